// The suite of every store, over MySQL and MariaDB.

import { randomUUID } from 'node:crypto';
import { mysqlStore } from 'payment-gateway-sdk/mysql';
import { storeSuite } from 'payment-gateway-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreRow } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { mysqlServers } from '../support/mysql-stores.ts';
import { lacks } from '../support/skips.ts';
import { inTransactionOf, paid } from '../support/store-rows.ts';
import { uniqueName } from '../support/stores.ts';
import { suiteTest } from '../support/suite-test.ts';

for (const { name, needs, pool: open } of mysqlServers) {
  describe.skipIf(lacks(...(needs as [boolean, string, boolean])))(`over ${name}`, () => {
    const tablePrefix = uniqueName('store');
    const [one, other] = [open(), open()];
    beforeAll(() => mysqlStore(one, { scope: 'any', tablePrefix }).migrate());
    afterAll(async () => {
      await one.query(`drop table ${tablePrefix}_rows`);
      await Promise.all([one.end(), other.end()]);
    });

    storeSuite({
      test: suiteTest,
      open: scope => [mysqlStore(one, { scope, tablePrefix }), mysqlStore(other, { scope, tablePrefix })],
      transaction: inTransactionOf(one),
    });

    it('takes four statements for a create, and thirteen for an effect on three rows', async () => {
      let sent: string[] = [];
      const getConnection = async () => {
        const connection = await one.getConnection();
        const query = (asked: { sql?: string }, ...values: []) => {
          sent.push(String((asked.sql ?? String(asked)).split(' ')[0]));
          return connection.query(asked as never, ...values);
        };
        return { query, release: () => connection.release(), destroy: () => connection.destroy() };
      };
      const pool = { config: {}, getConnection } as never;
      const store = mysqlStore(pool, { scope: uniqueName('scope'), tablePrefix });
      await store.read(newRow());
      sent = [];
      const { row } = await store.write(newRow());
      await store.write({ ...(row as StoreRow), state: 'created' });
      expect(sent).toEqual(['INSERT', 'SELECT', 'UPDATE', 'SELECT']);

      const id = randomUUID();
      const order = newRow({ kind: 'order', id });
      const effect = () =>
        store.effect({ id, about: {}, reads: [order, row as StoreRow] }, async ({ payment, rows }) => [
          paid(id, payment),
          { ...order, ...rows[0] },
          rows[1] as StoreRow,
        ]);
      await effect();
      sent = [];
      await effect();
      const [begin, mark, end] = [
        ['SET', 'START'],
        ['SELECT', 'SAVEPOINT', 'UPDATE'],
        ['COMMIT', 'SELECT'],
      ];
      const rows = ['(SELECT', 'RELEASE', 'UPDATE', 'UPDATE', 'UPDATE'];
      expect(sent).toEqual(['SELECT', ...begin, ...mark, ...rows, ...end]);
    });
  });
}
