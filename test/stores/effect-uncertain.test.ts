// An effect that ends its own transaction may be incomplete: it never runs again until an operator decides.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Store, StoreRow } from '../../src/store/contract.ts';
import { errorOf } from '../support/fixtures.ts';
import { uniqueName } from '../support/stores.ts';
import { type Credits, newId, openCredits } from './credits.ts';
import type { Database } from './database.ts';
import { describeOver } from './databases.ts';

describeOver('an effect whose transaction other code has ended', server => {
  let database: Database;
  let observer: Database;
  let credits: Credits;
  let store: Store;
  let id: string;

  beforeAll(async () => {
    observer = await server.open();
    // It lends one connection at a time: the next payment gets the connection of the payment before.
    database = await server.open({ max: 2 });
    credits = await openCredits(observer);
    store = credits.storeOf(database);
  });
  afterAll(async () => {
    await credits.close();
    await Promise.all([observer.end(), database.end()]);
  });
  beforeEach(() => {
    id = newId();
  });

  const credit = (tx: unknown) => credits.credit(tx, id);
  type Meddle = (tx: unknown) => Promise<unknown>;
  const pay = (effect?: Meddle) => credits.pay(store, id, effect);
  const payment = async () => (await store.read({ kind: 'payment', id })).row as StoreRow;
  const isPostgres = server.name === 'Postgres';
  /** Statements that fail with an error, with one after which the transaction is repeated, or with a cut connection. */
  const accidents = isPostgres
    ? {
        error: 'select 1/0',
        deadlock: `do $$ begin raise exception 'met another' using errcode = '40P01'; end $$`,
        cut: 'select pg_terminate_backend(pg_backend_pid())',
      }
    : {
        error: `signal sqlstate '45000'`,
        deadlock: `signal sqlstate '40001' set mysql_errno = 1213, message_text = 'met another'`,
        cut: 'kill connection_id()',
      };
  const past = (tx: unknown, sql: string) => database.queryIn(tx)(sql);
  /** What an effect may do after its credit, besides statements of SQL. */
  const STEPS: Record<string, (tx: unknown) => Promise<unknown>> = {
    credit,
    fail: () => Promise.reject(new Error('shop')),
    'ignored error': tx => past(tx, accidents.error).catch(() => {}),
    deadlock: tx => past(tx, accidents.deadlock),
    cut: tx => past(tx, accidents.cut),
  };
  const BEGIN = 'START TRANSACTION';
  const table = uniqueName('committing');
  const cases: [credited: number, ...steps: string[]][] = [
    [1, 'COMMIT'],
    [1, 'COMMIT', 'select 1'],
    [1, 'COMMIT', BEGIN],
    [1, 'COMMIT AND CHAIN'],
    [1, 'COMMIT', BEGIN, 'ignored error'],
    [0, 'ROLLBACK'],
    [0, 'ROLLBACK AND CHAIN'],
    [1, 'ROLLBACK', 'credit'],
    [1, 'ROLLBACK', BEGIN, 'credit', 'COMMIT'],
    [1, 'ROLLBACK', 'credit', 'fail'],
    [1, 'COMMIT', 'fail'],
    [1, 'COMMIT', BEGIN, 'fail'],
    // It would be repeated.
    [1, 'COMMIT', 'deadlock'],
    [1, 'COMMIT', 'cut'],
    // In MySQL, the deadlock looks like one of the whole transaction: docs/databases.md. And MySQL commits before a DDL.
    isPostgres ? [1, 'ROLLBACK', 'credit', 'deadlock'] : [1, `CREATE TABLE ${table} (n int)`, `DROP TABLE ${table}`],
  ];

  it.for(cases)('never runs again, until an operator answers: credited %i times by %s %s %s', async testCase => {
    const [credited, ...steps] = testCase;
    const meddle: Meddle = async tx => {
      await credit(tx);
      for (const step of steps) await (STEPS[step]?.(tx) ?? past(tx, step));
    };
    const result = await pay(meddle).catch(() => 'failed');
    // MySQL repeats after a deadlock, and finds the committed mark.
    expect(['failed', 'uncertain']).toContain(result);
    for (let index = 0; index < 2; index++) expect(await pay()).toBe('uncertain');
    const { about, ...row } = await payment();
    expect([row.state, about]).toMatchObject(['begun', { status: 'COMPLETED' }]);
    expect((await store.list({ kind: 'payment', states: ['begun'] })).rows.map(row => row.id)).toContain(id);
    expect(await credits.times(id)).toBe(credited);
    // Every connection is back in the pool.
    const lent = await Promise.all([database.begin(), database.begin()]);
    for (const { end } of lent) await end('rollback');

    expect((await store.write({ ...row, state: 'done', data: { resolved: true } })).isWritten).toBe(true);
    const next = store.effect({ id, about: {}, reads: [] }, async ({ tx, payment: found }) => {
      await credit(tx);
      return found && [{ ...found, data: { ...found.data, next: true } }];
    });
    expect(await next).toBe('done');
    expect(await payment()).toMatchObject({ state: 'done', data: { resolved: true, next: true } });
    expect(await credits.times(id)).toBe(credited + 1);
  });

  it('says so in its error', async () => {
    expect(await errorOf(pay(tx => past(tx, 'COMMIT')))).toHaveProperty(
      'message',
      'The transaction of the effect ended before your function returned, so the effect may be incomplete. It does not run again until you call gateway.resolveReview(paymentId, status). Leave BEGIN, COMMIT and ROLLBACK to the store.',
    );
  });

  it('keeps the data of a payment that had an effect before', async () => {
    await pay();
    const cut = store.effect({ id, about: { status: 'FAILED' }, reads: [] }, async ({ tx, payment: found }) => {
      await past(tx, 'ROLLBACK');
      return found && [{ ...found, data: {} }];
    });
    await expect(cut).rejects.toThrow('ended before');
    const { amount } = (await payment()).data as { amount: string };
    expect([amount, await pay()]).toEqual(['25.50', 'uncertain']);
    expect(await payment()).toMatchObject({ state: 'begun', about: { status: 'FAILED' } });
  });
});
