// postgresStore passes the suite of every store, also in sessions of the strictest isolation and with prepared statements.

import { storeSuite } from 'payment-gateway-sdk/testing';
import type pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import { lacks } from '../support/skips.ts';
import { hasPostgres, inTransaction, openPostgresStore, postgresPool } from '../support/stores.ts';
import { suiteTest } from '../support/suite-test.ts';

type Opened = Awaited<ReturnType<typeof openPostgresStore>>;

describe.skipIf(lacks(hasPostgres, 'postgresStore: no PostgreSQL at 127.0.0.1:5432'))('postgresStore', () => {
  let opened: Opened;
  let other: pg.Pool;
  beforeAll(async () => {
    opened = await openPostgresStore({ max: 30 });
    other = postgresPool({ options: '-c default_transaction_isolation=serializable', max: 30 });
  });
  afterAll(async () => {
    await other.end();
    await opened.close();
  });

  storeSuite({
    test: suiteTest,
    open: scope => [opened.storeOf(undefined, { scope }), opened.storeOf(other, { scope, prepare: true })],
    transaction: work => inTransaction(opened.pool, work),
  });
});
