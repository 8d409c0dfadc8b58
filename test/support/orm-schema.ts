// Gives each page of docs/orms a schema of its own, with the table of orders that its reader has.
import { afterAll } from 'vitest';
import { postgresPool, uniqueName } from './stores.ts';

const schema = uniqueName('orm');
const pool = postgresPool({ max: 1 });
await pool.query(`create schema ${schema}`);
await pool.query(`create table ${schema}.orders (reference text primary key, amount numeric not null, paid_by uuid)`);
process.env.DATABASE_URL = `postgres://postgres@127.0.0.1:5432/test?options=-c%20search_path%3D${schema}`;
process.env.DATABASE_SCHEMA = schema;

afterAll(async () => {
  await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
});
