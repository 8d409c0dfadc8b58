// Gives each page of docs/orms an empty schema of its own.
import { afterAll } from 'vitest';
import { postgresPool, uniqueName } from './stores.ts';

const schema = uniqueName('orm');
const pool = postgresPool({ max: 1 });
await pool.query(`create schema ${schema}`);
process.env.DATABASE_URL = `postgres://postgres@127.0.0.1:5432/test?options=-c%20search_path%3D${schema}`;
process.env.DATABASE_SCHEMA = schema;

afterAll(async () => {
  await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
});
