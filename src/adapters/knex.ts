// Knex, as a database for our stores.
import { ConfigurationError } from '../errors.ts';
import { type SqlDatabase, type SqlQuery, type SqlRow, sizeOf } from '../sql/database.ts';
import { guard, lendGuarded } from './gate.ts';
import { sentAtOnce } from './lazy.ts';
import { misfit, noTransactionOf } from './misfit.ts';
import { gateOf, mysqlRows, type RawConnection } from './mysql2.ts';

/** A Knex over PostgreSQL, MySQL or MariaDB, by shape. */
export interface KnexDatabase<Tx> {
  // biome-ignore lint/suspicious/noExplicitAny: an interface of Knex that is typed by the merchant's tables
  transaction<T>(work: (tx: any) => Promise<T>, config?: { isolationLevel: 'read committed' }): Promise<T>;
  /** Its own way to a transaction, which tells the type of one. */
  transactionProvider(): () => Promise<Tx>;
  raw(sql: string, bindings: never): PromiseLike<unknown>;
}

/**
 * Lets the stores of Postgres and of MySQL use the merchant's Knex. `onPayment` gets Knex's own
 * transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, for a pool of one connection, and for a database that there are no stores
 * for
 * @example
 * const inbox = postgresInbox(fromKnex(knex)); // onPayment gets a Knex.Transaction as its tx
 * const journal = postgresJournal(fromKnex(knex), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/knex.md
 */
export function fromKnex<Tx>(knex: KnexDatabase<Tx>): SqlDatabase<Tx> {
  const { raw, transaction, isTransaction, client } = (knex ?? {}) as Internals;
  const refused = (takes: string) => misfit('fromKnex', takes, knex);
  if (!raw || !transaction) throw refused('what knex({ client: "pg", … }), or "mysql2", returns');
  if (isTransaction) throw refused('what knex() returns, and none of its transactions');
  const { dialect: speaks = 'postgresql', driverName, config } = client ?? {};
  const isMysql = speaks === 'mysql' && driverName !== 'mysql';
  if (!isMysql && speaks !== 'postgresql')
    throw refused(`a Knex over PostgreSQL or mysql2, and this one is over ${driverName ?? speaks}`);
  const dialect = isMysql ? 'mysql' : 'postgres';
  const queryOf = isMysql ? mysqlQueryOf : postgresQueryOf;

  return {
    dialect,
    pool: { identity: client ?? knex, max: sizeOf(config?.pool?.max) },
    query: queryOf(knex),
    queryIn(tx) {
      const { isTransaction } = (tx ?? {}) as Internals;
      if (!isTransaction) throw noTransactionOf('that of knex.transaction(async trx => …)', tx, 'fromKnex');
      return queryOf(tx as Executor);
    },
    transaction: work =>
      knex.transaction(
        async tx => {
          if (isMysql) guard(tx, gateOf((await (tx as Internals).client?.acquireConnection?.()) as RawConnection));
          return work(tx, queryOf(tx));
        },
        { isolationLevel: 'read committed' },
      ),
    ...(isMysql && { lend: lendWithoutEnds }),
  };
}

/** Knex takes a transaction for ended, and lends its connection to others, also where its COMMIT was refused. */
async function lendWithoutEnds<Tx>(tx: Tx, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  const ends = tx as Ends;
  const { commit, rollback } = ends;
  ends.commit = refuseEnd;
  ends.rollback = refuseEnd;
  try {
    await lendGuarded(tx, work);
  } finally {
    Object.assign(ends, { commit, rollback });
  }
}

const refuseEnd = async () => {
  throw new Error('onPayment cannot end its transaction by itself: leave commit() and rollback() to the inbox.');
};

interface Ends {
  commit: unknown;
  rollback: unknown;
}

interface Internals {
  raw?: unknown;
  transaction?: unknown;
  isTransaction?: boolean;
  client?: {
    dialect?: string;
    driverName?: string;
    config?: { pool?: { max?: number } };
    /** Of a transaction: the connection that it has. */
    acquireConnection?(): Promise<unknown>;
  };
}

type Executor = Pick<KnexDatabase<unknown>, 'raw'>;

const CHANGED = 'The postProcessResponse of this Knex changes answers of raw(): let it leave them as they are.';

/** Knex's placeholders are question marks, of which our SQL for Postgres has no others. */
function postgresQueryOf(handle: Executor): SqlQuery {
  return async (sql, values = []) => {
    const bindings: unknown[] = [];
    const text = sql.replace(/\$(\d+)/g, (_, number) => {
      bindings.push(values[Number(number) - 1]);
      return '?';
    });
    const answer = await sentAtOnce(handle.raw(text, bindings as never));
    // A merchant's postProcessResponse may have taken the rows out.
    const rows = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | undefined)?.rows;
    if (Array.isArray(rows)) return rows as SqlRow[];
    throw new ConfigurationError(CHANGED);
  };
}

function mysqlQueryOf(handle: Executor): SqlQuery {
  return async (sql, values = []) => {
    const answer = await sentAtOnce(handle.raw(sql, values as never));
    if (Array.isArray(answer)) return mysqlRows(answer[0]);
    throw new ConfigurationError(CHANGED);
  };
}
