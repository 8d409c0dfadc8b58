// The library postgres.js, as a database for our stores.
import { beforeEnd, ENDED } from '../sql/after-end.ts';
import { poolOf, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';
import { misfit } from '../sql/misfit.ts';

/** What postgres() of postgres.js returns, by shape. */
export interface PostgresJs<Tx> {
  begin<T>(options: string, work: (tx: Tx) => Promise<T>): Promise<unknown>;
  unsafe(sql: string, values?: never, options?: { prepare?: boolean }): PromiseLike<unknown>;
  readonly options: { max?: number; prepare?: boolean };
}

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's postgres.js. `onPayment` gets the `sql` of the transaction
 * as `tx`; `tx.savepoint()` nests.
 *
 * @throws {ConfigurationError} for the `sql` of a transaction or of a reserved connection, and for a pool of one connection
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   inbox: postgresInbox(fromPostgresJs(sql)),
 *   onPayment: (payment, { tx }) => tx`update orders set is_paid = true where reference = ${payment.reference}`,
 * });
 */
export function fromPostgresJs<Tx>(sql: PostgresJs<Tx>): SqlDatabase<Tx> {
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
    (handle: Executor): SqlQuery =>
    async (text, values = []) =>
      (await handle.unsafe(text, values as never, { prepare })) as SqlRow[];

  return {
    dialect: 'postgres',
    pool: poolOf(sql),
    query: queryOf(sql),
    queryIn: tx => queryOf(tx as Executor),
    async transaction(work) {
      let isEnded = false;
      const guarded = async (tx: Tx) => {
        const lent = untilEnd(tx, () => isEnded);
        return beforeEnd(work(lent, queryOf(lent as Executor)), () => isEnded);
      };
      try {
        return (await sql.begin('isolation level read committed read write', guarded)) as never;
      } finally {
        isEnded = true;
      }
    },
  };
}

type Executor = Pick<PostgresJs<unknown>, 'unsafe'>;

/** postgres.js hands the connection on, and lets its transaction use it all the same. */
function untilEnd<Tx>(tx: Tx, isEnded: () => boolean): Tx {
  const check = () => {
    if (isEnded()) throw new Error(ENDED);
  };
  return new Proxy(tx as () => unknown, {
    apply(target, thisArg, args) {
      check();
      return Reflect.apply(target, thisArg, args as []);
    },
    get(target, name) {
      check();
      return Reflect.get(target, name, target);
    },
  }) as Tx;
}
