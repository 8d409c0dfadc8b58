// What a database of your own must keep.
import { sqlDatabaseSuite } from 'payment-gateway-sdk/testing';
import { afterAll, test } from 'vitest';
import { sequelize } from './database.ts';
import { fromSequelize } from './from-sequelize.ts';

sqlDatabaseSuite({
  test,
  make: () => fromSequelize(sequelize, 10),
  execute: (transaction, text) => sequelize.query(text, { transaction }),
});
afterAll(() => sequelize.close());
