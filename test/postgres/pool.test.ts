// A pool of pg as a database, over a double of it: who may have a connection again, and what a lost one ends.
import { EventEmitter } from 'node:events';
import type { PgTx, SqlDatabase } from 'payment-gateway-sdk/postgres';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { listenOver } from '../../src/postgres/listen.ts';
import { fromPool } from '../../src/postgres/pool.ts';
import { errorOf } from '../support/fixtures.ts';

const lost = new Error('Connection terminated unexpectedly');

afterEach(() => void vi.restoreAllMocks());

/** @param answer of each statement @param status of the transaction of each client, by its number from 0 */
function pool(answer: (text: string) => unknown = () => {}, status: (client: number) => string | null = () => 'I') {
  const asked: unknown[] = [];
  const released: unknown[] = [];
  const clients: EventEmitter[] = [];
  const query = async (text: string) => {
    asked.push(text);
    await answer(text);
    return { rows: [], command: text };
  };
  const connect = async () => {
    const number = clients.length;
    const release = (isBroken?: unknown) => void released.push(isBroken);
    const client = Object.assign(new EventEmitter(), { query, release, getTransactionStatus: () => status(number) });
    clients.push(client);
    return client;
  };
  return { pool: { query, connect, options: { max: 4 } }, asked, released, clients };
}

const USES: [string, (db: SqlDatabase<PgTx>) => Promise<unknown>][] = [
  ['statement', db => db.query('select 1')],
  ['transaction', db => db.transaction(async () => {})],
];

describe.each(USES)('for a %s, a pool of pg', (_, use) => {
  it.each(['T', 'E'])('writes nothing on a client that was given back within a transaction: %s', async status => {
    const { pool: given, asked, released } = pool(undefined, () => status);
    expect(await errorOf(use(fromPool(given)))).toMatchObject({ name: 'ConfigurationError', outcome: 'not_sent' });
    expect([asked, released]).toEqual([[], [true]]);
  });

  it('takes a client that does not tell whether it is in one', async () => {
    const { pool: given, released } = pool(undefined, () => null);
    await use(fromPool(given));
    expect(released).toEqual([false]);
  });
});

// printf 'select $1' | sha256sum
const NAMED = { name: 'payment_gateway_375fa1233f1f09a898484552d9b3f921', text: 'select $1' };
it.each([
  [true, [NAMED, 'select 1']],
  [undefined, ['select $1', 'select 1']],
])('a statement with values is prepared under a name of its text if prepare is true, not %s', async (prepare, sent) => {
  const { pool: given, asked } = pool();
  const db = fromPool(given, prepare);
  await db.query('select $1', ['a']);
  await db.query('select 1');
  expect(asked).toEqual(sent);
});

it('prepares in its own transaction, and never in that of the merchant', async () => {
  const { pool: given, asked } = pool();
  const db = fromPool(given, true);
  await db.transaction(tx => db.queryIn(tx)('select $1', ['a']));
  await db.queryIn(await given.connect())('select $1', ['a']);
  expect(asked.slice(1)).toEqual([NAMED, 'COMMIT', 'select $1']);
});

// https://www.postgresql.org/docs/current/errcodes-appendix.html: missing, or a duplicate
it.each(['26000', '42P05'])('prepares nothing more after a pooler has lost a statement: %s', async code => {
  const missing = Object.assign(new Error('prepared statement'), { code });
  const { pool: given, asked } = pool(text => (typeof text === 'object' ? Promise.reject(missing) : undefined));
  const db = fromPool(given, true);
  expect(await errorOf(db.query('select $1', ['a']))).toBe(missing);
  await db.query('select $1', ['a']);
  expect(asked).toEqual([NAMED, 'select $1']);
});

it('a client whose statement failed is given to nobody, and its error ends no process', async () => {
  const answer = Promise.withResolvers<never>();
  const { pool: given, released, clients } = pool(() => answer.promise);
  const failing = fromPool(given).query('select 1');
  await new Promise(setImmediate);
  clients[0]?.emit('error', lost);
  answer.reject(lost);
  expect(await errorOf(failing)).toBe(lost);
  expect([released, clients[0]?.listenerCount('error')]).toEqual([[true], 0]);
});

it.each(['T', 'E'])('a statement fails on a client that somebody goes on with, and closes it: %s', async status => {
  let isSent = false;
  const { pool: given, released } = pool(
    () => {
      isSent = true;
    },
    () => (isSent ? status : 'I'),
  );
  await expect(fromPool(given).query('insert')).rejects.toThrow('inside an open transaction');
  expect(released).toEqual([true]);
});

describe('listening', () => {
  const turn = () => new Promise(setImmediate);
  const listenTo = (double: ReturnType<typeof pool>) => {
    const listening = listenOver(double.pool)('plans', () => {}, new AbortController().signal);
    listening.catch(() => {});
    return listening;
  };

  it('tells a loss that comes before LISTEN was answered, and no process ends by it', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const answered = Promise.withResolvers<void>();
    const double = pool(() => answered.promise);
    const listening = listenTo(double);
    await turn();
    double.clients[0]?.emit('error', lost);
    await turn();
    answered.reject(lost);
    await expect(listening).rejects.toBe(lost);
    await turn();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('tells what LISTEN and connect() meet, and the end of its connection', async () => {
    const refusing = pool(() => Promise.reject(lost));
    await expect(listenTo(refusing)).rejects.toBe(lost);
    expect(refusing.released).toEqual([true]);
    const closed = pool();
    closed.pool.connect = () => Promise.reject(lost);
    await expect(listenTo(closed)).rejects.toBe(lost);
    const ending = pool();
    const listening = listenTo(ending);
    await turn();
    ending.clients[0]?.emit('end');
    await expect(listening).rejects.toThrow('The connection that listens has ended.');
  });
});
