// A pool of pg as a database, over a double of it: what is sent, what may be written in, and who may have a connection again.
import { EventEmitter } from 'node:events';
import { ConfigurationError } from 'payment-gateway-sdk';
import { type PgTx, postgresStore, type SqlDatabase } from 'payment-gateway-sdk/postgres';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { databaseOf } from '../../src/postgres/database.ts';
import { listenOn } from '../../src/postgres/listen.ts';
import { fromPool } from '../../src/postgres/pool.ts';
import { isCommitted } from '../../src/sql/committed.ts';
import { errorOf } from '../support/fixtures.ts';

const lost = new Error('Connection terminated unexpectedly');

/**
 * A pool whose clients keep what they were asked.
 *
 * @param answers by text; the command is that of the text otherwise
 * @param status of the transaction of each client, by its number from 0
 */
function pool(
  options: { max?: number } | undefined = undefined,
  answers: Record<string, () => unknown> = {},
  status: (client: number) => string | null = () => 'I',
) {
  const asked: unknown[][] = [];
  const released: unknown[] = [];
  const clients: Client[] = [];
  const query = async (text: string, values?: unknown[]) => {
    asked.push(values === undefined ? [text] : [text, values]);
    return ((await answers[text]?.()) ?? { rows: [{ text }], command: text }) as { rows: unknown[]; command: string };
  };
  class Client extends EventEmitter {
    query = query;
    readonly #number = clients.length;
    getTransactionStatus() {
      return status(this.#number);
    }
    release(broken?: Error | boolean) {
      released.push(broken);
    }
  }
  const connect = async () => {
    const own = new Client();
    clients.push(own);
    return own;
  };
  const double = { query, connect, totalCount: 0, idleCount: 0, ...(options && { options }) };
  return { pool: double, asked, released, clients, Client };
}
type Given = never;

describe('a pool of pg', () => {
  it('runs statements, and transactions at READ COMMITTED that can write', async () => {
    const { pool: given, asked, released } = pool({ max: 4 });
    const db = fromPool(given);
    expect(await db.query('select $1', ['a'])).toEqual([{ text: 'select $1' }]);
    const value = await db.transaction(async tx => {
      expect(Object.keys(tx)).toEqual(['query']);
      expect(await db.queryIn(tx)('insert', ['b'])).toEqual([{ text: 'insert' }]);
      return 'done';
    });
    expect([value, asked, released]).toEqual([
      'done',
      [['select $1', ['a']], ['BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'], ['insert', ['b']], ['COMMIT']],
      [false, false],
    ]);
    expect([db.dialect, db.pool]).toEqual(['postgres', { identity: given, max: 4 }]);
  });

  it('names each statement with values by its text, if it shall be prepared, and no other', async () => {
    const { pool: given, asked } = pool();
    const db = fromPool(given, true);
    await db.query('select $1', ['a']);
    await db.query('select 1');
    await db.transaction(tx => db.queryIn(tx)('select $1', ['b']));
    // printf 'select $1' | sha256sum
    const named = { name: 'payment_gateway_375fa1233f1f09a898484552d9b3f921', text: 'select $1' };
    expect(asked).toEqual([
      [named, ['a']],
      ['select 1'],
      ['BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'],
      [named, ['b']],
      ['COMMIT'],
    ]);
  });

  it.each(['T', 'E'])('takes another client for one that was given back within a transaction: %s', async status => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    for (const run of [
      (db: SqlDatabase<PgTx>) => db.query('select 1'),
      (db: SqlDatabase<PgTx>) => db.transaction(async () => {}),
    ]) {
      const { pool: given, clients, released } = pool({ max: 4 }, {}, client => (client < 4 ? status : 'I'));
      await run(fromPool(given));
      expect([clients.length, released.slice(0, 4)]).toEqual([5, [true, true, true, true]]);
    }
    expect(warn).toHaveBeenCalledTimes(8);
    expect(warn).toHaveBeenCalledWith(
      expect.stringMatching(/^A client was released to the pool inside a transaction\. The SDK closed it, /),
      'PaymentGatewayWarning',
    );
  });

  it('writes nothing where every client is in a transaction', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    const { pool: given, asked } = pool({ max: 2 }, {}, () => 'T');
    const error = await errorOf(fromPool(given).query('select 1'));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect([asked, warn.mock.calls.length]).toEqual([[], 3]);
  });

  it('takes a client that does not tell whether it is in one', async () => {
    const { pool: given, released } = pool(undefined, {}, () => null);
    expect(await fromPool(given).query('select 1')).toEqual([{ text: 'select 1' }]);
    const [client] = [await given.connect()];
    Object.assign(client, { getTransactionStatus: undefined });
    const old = { ...given, connect: async () => client };
    expect(await fromPool(old).query('select 1')).toEqual([{ text: 'select 1' }]);
    expect(released).toEqual([false, false]);
  });

  it('tells of a statement that it is committed, if its client tells that nothing goes on', async () => {
    for (const [status, known] of [
      ['I', true],
      [null, false],
    ] as const) {
      const db = fromPool(pool(undefined, {}, () => status).pool);
      expect(isCommitted(await db.query('insert'))).toBe(known);
      await db.transaction(async tx => expect(isCommitted(await db.queryIn(tx)('insert'))).toBe(false));
    }
  });

  it.each(['T', 'E'])(
    'fails where somebody goes on with a client that they gave back, and closes it: %s',
    async status => {
      let isSent = false;
      const sent = () => {
        isSent = true;
        return { rows: [] };
      };
      const { pool: given, released } = pool(undefined, { insert: sent }, () => (isSent ? status : 'I'));
      const error = await errorOf(fromPool(given).query('insert'));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect((error as Error).message).toContain('released to the pool inside an open transaction');
      expect(released).toEqual([true]);
    },
  );

  it('gives nobody a client whose statement failed, and outlives its error', async () => {
    const answer = Promise.withResolvers<never>();
    const { pool: given, released, clients } = pool(undefined, { 'select 1': () => answer.promise });
    const failing = fromPool(given).query('select 1');
    await new Promise(setImmediate);
    clients[0]?.emit('error', lost);
    answer.reject(lost);
    expect(await errorOf(failing)).toBe(lost);
    expect([released, clients[0]?.listenerCount('error')]).toEqual([[true], 0]);
  });

  it('writes in a client, and in nothing else', async () => {
    const { pool: given, asked, Client } = pool();
    const db = fromPool(given);
    await db.queryIn(new Client() as Given)('select 1');
    expect(asked).toEqual([['select 1']]);
    for (const wrong of [undefined, {}, { query: 1 }]) {
      expect(() => db.queryIn(wrong as Given)).toThrow(
        'payOut takes a client of the pool after its BEGIN, or the tx of an effect.',
      );
    }
  });

  it('is taken by the stores; a client of it, and what is neither, are refused', () => {
    const { pool: given, Client } = pool();
    expect(databaseOf('postgresStore', given as Given)).toMatchObject({ dialect: 'postgres' });
    const own = fromPool(given);
    expect(databaseOf('postgresStore', own as Given)).toBe(own);
    const clients = [
      Object.assign(new Client(), { connect() {} }),
      { query() {}, connect() {}, escapeIdentifier() {} },
    ];
    for (const wrong of [...clients, undefined, {}, { query() {} }, { connect() {} }, { query: 1, connect: 1 }]) {
      expect(() => postgresStore(wrong as Given, { scope: 'eu' })).toThrow(
        /^postgresStore takes a pool of pg, a database from an adapter/,
      );
    }
    expect(() => postgresStore(own, { scope: 'eu', prepare: true })).toThrow(
      'postgresStore: prepare needs a pool of pg',
    );
    const mysql = { ...own, dialect: 'mysql' };
    expect(() => postgresStore(mysql as Given, { scope: 'eu' })).toThrow('payment-gateway-sdk/mysql');
  });
});

describe('listening on a pool of pg', () => {
  const turn = () => new Promise(setImmediate);
  const opened = async (count: number, double = pool()) => {
    const heard: number[] = Array(count).fill(0);
    const stops = heard.map(() => new AbortController());
    const hear = (index: number) => () => {
      heard[index] = (heard[index] ?? 0) + 1;
    };
    const listening = stops.map((stop, index) => listenOn(double.pool, 'plans', hear(index), stop.signal));
    for (const each of listening) each.catch(() => {});
    await turn();
    return { ...double, heard, stops, listening, notify: () => double.clients.at(-1)?.emit('notification') };
  };

  it.each([
    ['breaks', 'error', lost, lost.message],
    ['ends', 'end', undefined, 'The connection that listens has ended.'],
  ])('tells everybody when the connection %s, and begins anew', async (_, event, error, message) => {
    const first = await opened(2);
    first.clients[0]?.emit(event, error);
    for (const each of first.listening) await expect(each).rejects.toThrow(message);
    expect(first.released).toEqual([true]);
    const second = await opened(1, first);
    expect(first.clients).toHaveLength(2);
    second.stops[0]?.abort();
    await second.listening[0];
  });

  it('tells a loss that comes before LISTEN was answered, and no process ends by it', async () => {
    const answered = Promise.withResolvers<void>();
    const unhandled: unknown[] = [];
    const onUnhandled = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', onUnhandled);
    onTestFinished(() => void process.off('unhandledRejection', onUnhandled));
    const { clients, listening } = await opened(1, pool(undefined, { 'LISTEN "plans"': () => answered.promise }));
    clients[0]?.emit('error', lost);
    await turn();
    await turn();
    answered.reject(lost);
    await expect(listening[0]).rejects.toBe(lost);
    await turn();
    expect(unhandled).toEqual([]);
  });

  it('tells what LISTEN and connect() meet', async () => {
    const refused = new Error('permission denied');
    const failing = await opened(1, pool(undefined, { 'LISTEN "plans"': () => Promise.reject(refused) }));
    await expect(failing.listening[0]).rejects.toBe(refused);
    expect(failing.released).toEqual([true]);
    const closed = pool();
    closed.pool.connect = () => Promise.reject(lost);
    await expect((await opened(1, closed)).listening[0]).rejects.toBe(lost);
  });
});
