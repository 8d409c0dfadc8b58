// The library postgres.js, as a database for our stores.

import { beforeEnd, ENDED } from '../adapters/ended.ts';
import { misfit, noTransactionOf } from '../adapters/misfit.ts';
import { aborted, delay } from '../deadline.ts';
import { noTransaction, poolOf, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';

/** What postgres() of postgres.js returns, by shape. */
export interface PostgresJs<Tx> {
  begin<T>(options: string, work: (tx: Tx) => Promise<T>): Promise<unknown>;
  unsafe(sql: string, values?: never, options?: { prepare?: boolean }): PromiseLike<unknown>;
  /** On a connection of its own, which it opens again when it is lost. */
  listen?(channel: string, onNotice: () => void): Promise<{ unlisten(): Promise<void> }>;
  readonly options: { max?: number; prepare?: boolean };
}

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's postgres.js. `onPayment` gets the `sql` of the transaction
 * as `tx`; `tx.savepoint()` nests.
 *
 * @throws {ConfigurationError} for the `sql` of a transaction or of a reserved connection
 * @example
 * const inbox = postgresInbox(fromPostgresJs(sql)); // onPayment gets the sql of sql.begin as its tx
 * const journal = postgresJournal(fromPostgresJs(sql), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/postgres-js.md
 */
export function fromPostgresJs<Tx>(
  sql: PostgresJs<Tx>,
): SqlDatabase<Tx> & Required<Pick<SqlDatabase<Tx>, 'lend' | 'queryIn'>> {
  const { begin, unsafe, options } = (sql ?? {}) as Partial<PostgresJs<Tx>>;
  if (!begin || !unsafe || !options) {
    const takes = unsafe
      ? 'what postgres() returns, and neither the sql of a transaction nor a reserved one'
      : 'what postgres() returns';
    throw misfit('fromPostgresJs', takes, sql);
  }
  // A statement that is not prepared costs one more turn; a pooler may take no others.
  const { prepare = true } = options;
  const queryOf =
    (handle: Handle): SqlQuery =>
    async (...statement) =>
      withPlainNames((await asked(handle, prepare, ...statement)) as SqlRow[]);

  return {
    dialect: 'postgres',
    pool: poolOf(sql),
    query: queryOf(sql),
    queryIn(tx) {
      const { savepoint } = (tx ?? {}) as { savepoint?: unknown };
      if (!savepoint) throw noTransactionOf('the sql of sql.begin(async sql => …)', tx, 'fromPostgresJs');
      return whileOpen(tx as Handle, prepare);
    },
    async listen(channel, onNotice, signal) {
      // postgres.js keeps a listener whose LISTEN has failed, and listens for it again by itself.
      const listening = sql.listen?.(channel, onNotice).catch(() => undefined);
      await aborted(signal);
      // It may begin after that, or never.
      void listening?.then(begun => begun?.unlisten()).catch(() => {});
    },
    async transaction(work) {
      let isEnded = false;
      const guarded = async (tx: Tx) => {
        const own = untilEnd(tx, () => isEnded);
        return beforeEnd(work(own, queryOf(own as Handle)), () => isEnded);
      };
      try {
        return (await sql.begin('isolation level read committed read write', guarded)) as never;
      } finally {
        isEnded = true;
      }
    },
    async lend(tx, work) {
      let isEnded = false;
      try {
        await work(untilEnd(tx, () => isEnded));
      } finally {
        isEnded = true;
      }
    },
  };
}

/** The rows with the columns that our statements name: a merchant's `transform` may write them in another way. */
export const withPlainNames = (rows: SqlRow[]): SqlRow[] =>
  Object.keys(rows[0] ?? {}).every(name => name === name.toLowerCase()) ? rows : rows.map(inLowerCase);
const inLowerCase = (row: object): SqlRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toLowerCase(), value]));

type Handle = Pick<PostgresJs<unknown>, 'unsafe'>;

const asked = (handle: Handle, prepare: boolean, ...[text, values = []]: Parameters<SqlQuery>) =>
  handle.unsafe(text, values as never, { prepare });

/** Milliseconds from the answer of a statement until the next one is sent, at most. */
const SOON = 1_000;

/**
 * Statements in a transaction, as long as it is open. What is asked of one that has ended, while another statement of it runs,
 * postgres.js never sends.
 */
function whileOpen(handle: Handle, prepare: boolean): SqlQuery {
  let running: Promise<unknown> | undefined;
  return async (...statement) => {
    const before = running;
    const query = asked(handle, prepare, ...statement) as LazyQuery & Promise<SqlRow[]>;
    // As soon as it is asked, and not when the promise of it is awaited.
    query.execute?.();
    const answer = Promise.resolve(query);
    const settled = answer.catch(() => {});
    running = settled;
    settled.then(() => {
      if (running === settled) running = undefined;
    });
    if (before) {
      const isUnsent = () => query.state === null;
      await before;
      if (isUnsent()) await Promise.race([settled, delay(SOON)]);
      if (isUnsent()) throw noTransaction();
    }
    return withPlainNames(await answer);
  };
}

/** The `sql` of a transaction or of a savepoint. */
interface Sql {
  (...args: unknown[]): unknown;
  savepoint(...args: unknown[]): unknown;
}

/** A query of postgres.js, which its handler sends as soon as somebody awaits it. */
interface LazyQuery {
  handler?: ((query: LazyQuery) => unknown) | undefined;
  /** Null until it is sent. */
  state: unknown;
  execute?(): unknown;
  reject(error: Error): unknown;
}

/** What sends statements, besides the tag itself. */
const SENDERS: ReadonlySet<unknown> = new Set(['unsafe', 'file']);

/**
 * Refuses what comes after the end: postgres.js hands the connection on, and lets its transactions and savepoints use it all
 * the same.
 */
function untilEnd<Tx>(tx: Tx, hasEnded: () => boolean): Tx {
  const check = () => {
    if (hasEnded()) throw new Error(ENDED);
  };
  /** Also what was written before the end, and is awaited, and so sent, after it. */
  const guarded = (made: unknown): unknown => {
    const query = made as Partial<LazyQuery>;
    const { handler: send } = query;
    if (typeof send !== 'function') return made;
    query.handler = Object.assign(
      (sent: LazyQuery) => (hasEnded() ? sent.reject(new Error(ENDED)) : send(sent)),
      // Whether it debugs, for one.
      send,
    );
    return made;
  };
  return new Proxy(tx as Sql, {
    apply(target, thisArg, args) {
      check();
      return guarded(Reflect.apply(target, thisArg, args));
    },
    get(target, name) {
      check();
      const value: unknown = Reflect.get(target, name, target);
      if (SENDERS.has(name)) {
        return (...args: unknown[]) => {
          check();
          return guarded(Reflect.apply(value as Sql, target, args));
        };
      }
      if (name !== 'savepoint') return value;
      return (...args: unknown[]) => {
        check();
        const work = args.at(-1) as (inner: Sql) => unknown;
        const within = (inner: Sql) => beforeEnd((async () => work(untilEnd(inner, hasEnded)))(), hasEnded);
        return target.savepoint(...args.slice(0, -1), within);
      };
    },
  }) as Tx;
}
