// Creates that are planned in a transaction of a real database: what is committed is sent, once, whoever dies.
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GatewayClient, type GatewayEvent, type JournalRow } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqlJournalOptions } from '../../src/sql/journal.ts';
import { openCreditsOver } from '../support/credits.ts';
import type { Database } from '../support/database.ts';
import { describeOver } from '../support/databases.ts';
import { errorOf, PAYOUT } from '../support/fixtures.ts';
import { ROW } from '../support/orm-plans.ts';
import { Replicas } from '../support/processes.ts';
import { isCi } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';

const planner = fileURLToPath(new URL('planner.ts', import.meta.url));
const NONE = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };

describeOver('a plan', ({ name, isFull, open }) => {
  const table = uniqueName('journal');
  const orders = uniqueName('orders');
  let database: Database;
  let sandbox: Sandbox;

  beforeEach(async () => {
    database = await open();
    await journalOf().migrate();
    await database.query(`create table ${orders} (reference varchar(60) primary key)`);
    sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
  });
  afterEach(async () => {
    await database.query(`drop table ${table}, ${orders}`);
    await database.end();
  });

  const journalOf = (options: SqlJournalOptions = {}) => database.journal({ table, scope: 'plan', ...options });
  const gatewayOf = (journal = journalOf(), events: GatewayEvent[] = []) =>
    new GatewayClient({ ...sandbox.clientOptions, journal, retries: 0, onEvent: event => events.push(event) });
  const wanted = (reference = 'payout-1', amount = '75.00') =>
    ({ ...PAYOUT, paymentType: 'WITHDRAWAL', amount, reference }) as const;
  const stateOf = async (reference = 'payout-1') => (await gatewayOf().find(reference))?.state;
  const plan = async (reference?: string) => {
    const { tx, end } = await database.begin();
    await journalOf().plan(tx, wanted(reference));
    await end('commit');
  };

  describe('is written', () => {
    it('by the transaction, which keeps or undoes it with the order', async () => {
      for (const how of ['rollback', 'commit'] as const) {
        const { tx, query, end } = await database.begin();
        await query(`insert into ${orders} values ('order')`);
        await journalOf().plan(tx, wanted());
        expect([await stateOf(), await gatewayOf().drain()]).toEqual([undefined, NONE]);
        await end(how);
      }
      expect([await stateOf(), await gatewayOf().drain()]).toEqual(['planned', { ...NONE, created: 1 }]);
    });

    it('within a savepoint, which undoes it alone', async () => {
      const { tx, query, end } = await database.begin();
      await query('savepoint part');
      await journalOf().plan(tx, wanted());
      await query('rollback to savepoint part');
      await journalOf().plan(tx, wanted('payout-2'));
      await end('commit');
      expect([await stateOf(), await stateOf('payout-2')]).toEqual([undefined, 'planned']);
    });

    it.each(['commit', 'rollback'] as const)('not after its %s', async how => {
      const { tx, query, end } = await database.begin();
      await query(how);
      await expect(journalOf().plan(tx, wanted())).rejects.toThrow('not an open transaction');
      await end(how);
      expect(await stateOf()).toBeUndefined();
    });

    it('over a freed reference likewise', async () => {
      await plan();
      await gatewayOf().settle('payout-1', 'not_created');
      for (const [how, state] of [
        ['rollback', 'freed'],
        ['commit', 'planned'],
      ] as const) {
        const { tx, query, end } = await database.begin();
        await query('rollback');
        await expect(journalOf().plan(tx, wanted())).rejects.toThrow('not an open transaction');
        expect(await stateOf()).toBe('freed');
        await query('begin');
        await journalOf().plan(tx, wanted('payout-1', '80.00'));
        await end(how);
        expect(await stateOf()).toBe(state);
      }
    });

    it('over a freed reference with what is kept of it, and over nothing else', async () => {
      const journal = journalOf();
      const plan = async (reference: string, amount: string) => {
        const { tx, end } = await database.begin();
        const planned = await journal.plan(tx, wanted(reference, amount)).catch(error => error);
        await end('commit');
        const { row } = await journal.read({ scope: 'plan', reference });
        return { planned, row };
      };
      for (const [reference, isRetry] of [
        ['never-tried', undefined],
        ['tried', true],
      ] as const) {
        const freed: JournalRow = { ...ROW, scope: 'plan', reference, state: 'freed', ...(isRetry && { isRetry }) };
        await journal.insert(freed);
        const { row } = await plan(reference, '80.00');
        expect(row).toMatchObject({ state: 'planned', amount: '80', revision: 2, looks: 0 });
        expect([row?.isRetry, row?.attemptId === freed.attemptId]).toEqual([isRetry, false]);
        expect(row?.dueAt).toBe(row?.begunAt);
      }
      for (const state of ['planned', 'begun', 'created'] as const) {
        const there = { ...ROW, scope: 'plan', reference: state, state };
        await journal.insert(there);
        const { planned, row } = await plan(state, '80.00');
        expect(planned).toHaveProperty('name', 'DuplicateReferenceError');
        expect(row).toMatchObject({ state, attemptId: there.attemptId, revision: 1 });
      }
      const left = await database.query(`select count(*) as count from ${table} where state = 'ticket'`);
      expect(Number(left[0]?.count)).toBe(0);
    });

    it('once by two transactions at the same time, and the second one waits for the first', async () => {
      for (const [reference, isFreed] of [
        ['payout-1', false],
        ['payout-2', true],
      ] as const) {
        if (isFreed) {
          await plan(reference);
          await gatewayOf().settle(reference, 'not_created');
        }
        const [first, second] = [await database.begin(), await database.begin()];
        await journalOf().plan(first.tx, wanted(reference));
        const other = errorOf(journalOf().plan(second.tx, wanted(reference, '80.00')));
        const waits = setTimeout(50, 'waits');
        expect(await Promise.race([other, waits])).toBe('waits');
        await first.end('commit');
        expect(await other).toMatchObject({ message: expect.stringContaining('belongs to another request') });
        expect((await journalOf().plan(second.tx, wanted(reference))).state).toBe('planned');
        await second.end('commit');
      }
      expect(await gatewayOf().drain()).toEqual({ ...NONE, created: 2 });
      expect(sandbox.payments.map(({ amount }) => amount)).toEqual([75, 75]);
    });
  });

  const count = isCi ? 150 : 15;
  it.skipIf(!isFull)(
    `is made once, or in honest doubt, though three replicas that plan, drain and sweep are killed again and again: ${count} orders`,
    async () => {
      const credits = await openCreditsOver(database);
      const server = await sandbox.listen();
      const replicas = new Replicas(planner, 3, 10, {
        DATABASE: name,
        GATEWAY_URL: server.url,
        MARKS: credits.marks,
        EFFECTS: credits.table,
        JOURNAL: table,
        ORDERS: orders,
        COUNT: String(count),
      });
      const left = async () => {
        // Payments are completed, and their callbacks are lost.
        for (const { id, paymentStatus } of sandbox.payments)
          if (paymentStatus === 'PENDING') await sandbox.complete(id);
        // What the dead have leased, and what was not final yet, is looked at at once, where minutes would pass.
        await database.query(
          `update ${table} set leased_until = null, due_at = due_at - interval '1' day where due_at is not null`,
        );
        const [row] = await database.query(`select (select count(*) from ${orders}) as orders,
        (select count(*) from ${table} where due_at is not null) as due`);
        return Number(row?.orders) < count ? 'orders are missing' : Number(row?.due);
      };
      try {
        await expect.poll(left, { timeout: 200_000, interval: 300 }).toBe(0);
      } finally {
        replicas.stop();
        await server.close();
      }
      const gateway = gatewayOf(journalOf({ settleMargin: 0 }));
      const known = (await database.query(`select reference from ${orders}`)).map(({ reference }) => String(reference));
      const doubts = new Set((await gateway.inDoubt()).map(({ reference }) => reference));
      expect(replicas.deaths).toBeGreaterThan(0);
      expect(replicas.failures).toBe(0);
      // Nothing was sent of what was rolled back.
      expect(sandbox.payments.filter(({ reference }) => !known.includes(reference ?? ''))).toEqual([]);
      for (const reference of known) {
        const made = sandbox.payments.filter(payment => payment.reference === reference);
        const state = await stateOf(reference);
        if (doubts.has(reference)) expect([reference, made.length <= 1]).toEqual([reference, true]);
        else expect([reference, made.length, state]).toEqual([reference, 1, 'created']);
        // A doubt ends by its callback, or by an operator.
        const [payment] = made;
        if (payment) await gateway.reconcile(await gateway.getPayment(payment.id));
      }
      await database.query(`update ${table} set begun_at = begun_at - interval '1' day where state = 'begun'`);
      for (const { reference } of await gateway.inDoubt()) await gateway.settle(reference, 'not_created');
      expect(await gateway.inDoubt()).toEqual([]);
      const credited = await credits.all();
      const settled = sandbox.payments.filter(({ reference }) => !doubts.has(reference ?? ''));
      expect(settled.map(({ id }) => credited.get(id))).toEqual(settled.map(() => 1));
      await credits.close();
    },
    240_000,
  );
});
