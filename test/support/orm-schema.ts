// Gives the shop of each library an empty schema of its own with a table of orders, and that of mysql2 a database.
import { afterAll, expect } from 'vitest';
import { postgresPool, uniqueName } from './stores.ts';

const name = uniqueName('orm');
const ORDERS = `create table ${name}.orders (id varchar(200) primary key, paid boolean not null default false)`;

async function inPostgres() {
  const pool = postgresPool({ max: 1 });
  await pool.query(`create schema ${name}`);
  await pool.query(ORDERS);
  process.env.DATABASE_URL = `postgres://postgres@127.0.0.1:5432/test?options=-c%20search_path%3D${name}`;
  process.env.DATABASE_SCHEMA = name;
  return async () => {
    await pool.query(`drop schema ${name} cascade`);
    await pool.end();
  };
}

async function inMysql() {
  const { MYSQL, mysqlPool } = await import('./mysql-stores.ts');
  const pool = mysqlPool({ connectionLimit: 1 });
  await pool.query(`create database ${name}`);
  await pool.query(ORDERS);
  process.env.DATABASE_URL = `mysql://${MYSQL.user}@${MYSQL.host}:${MYSQL.port}/${name}`;
  return async () => {
    await pool.query(`drop database ${name}`);
    await pool.end();
  };
}

const isMysql = /[\\/]mysql2[\\/]/.test(expect.getState().testPath ?? '');
afterAll(await (isMysql ? inMysql : inPostgres)());
