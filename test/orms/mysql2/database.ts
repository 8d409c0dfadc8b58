// The database, the table of orders, and that of payments which a person must look at.
import mysql from 'mysql2/promise';

export const pool = mysql.createPool({ uri: process.env.DATABASE_URL ?? '', connectionLimit: 10 });

export const ORDERS = `CREATE TABLE IF NOT EXISTS orders (
  reference varchar(255) COLLATE utf8mb4_bin PRIMARY KEY,
  amount decimal(20, 2) NOT NULL,
  currency char(3) NOT NULL,
  paid_by char(36)
)`;

export const TO_CHECK = `CREATE TABLE IF NOT EXISTS to_check (
  payment_id char(36) NOT NULL,
  status varchar(255) NOT NULL,
  PRIMARY KEY (payment_id, status)
)`;
