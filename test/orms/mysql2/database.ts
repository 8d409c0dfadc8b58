// The database, and the table of orders.
import mysql from 'mysql2/promise';

export const pool = mysql.createPool({ uri: process.env.DATABASE_URL ?? '', connectionLimit: 10 });

export const ORDERS = `CREATE TABLE IF NOT EXISTS orders (
  reference varchar(255) COLLATE utf8mb4_bin PRIMARY KEY,
  amount decimal(20, 2) NOT NULL,
  currency char(3) NOT NULL,
  paid_by char(36)
)`;
