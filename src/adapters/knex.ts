// Knex, as a database for our stores.
import { ConfigurationError } from '../errors.ts';
import { DEFAULT_SIZE, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';
import { misfit, noTransactionOf } from './misfit.ts';

/** A Knex over PostgreSQL, by shape. */
export interface KnexDatabase<Tx> {
  // biome-ignore lint/suspicious/noExplicitAny: an interface of Knex that is typed by the merchant's tables
  transaction<T>(work: (tx: any) => Promise<T>, config?: { isolationLevel: 'read committed' }): Promise<T>;
  /** Its own way to a transaction, which tells the type of one. */
  transactionProvider(): () => Promise<Tx>;
  raw(sql: string, bindings: never): PromiseLike<unknown>;
}

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Knex, and so Objection's. `onPayment` gets Knex's own
 * transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, for a pool of one connection, and for another database than PostgreSQL
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   inbox: postgresInbox(fromKnex(knex)),
 *   onPayment: (payment, { tx }) => tx('orders').where({ reference: payment.reference }).update({ is_paid: true }),
 * });
 */
export function fromKnex<Tx>(knex: KnexDatabase<Tx>): SqlDatabase<Tx> {
  const { raw, transaction, isTransaction, client } = (knex ?? {}) as Internals;
  const refused = (takes: string) => misfit('fromKnex', takes, knex);
  if (!raw || !transaction) throw refused('what knex({ client: "pg", … }) returns');
  if (isTransaction) throw refused('what knex() returns, and none of its transactions');
  const { dialect = 'postgresql', config } = client ?? {};
  if (dialect !== 'postgresql') throw refused(`a Knex over PostgreSQL, and this one speaks ${dialect}`);

  return {
    dialect: 'postgres',
    pool: { identity: client ?? knex, max: config?.pool?.max ?? DEFAULT_SIZE },
    query: queryOf(knex),
    queryIn(tx) {
      const { isTransaction } = (tx ?? {}) as Internals;
      if (!isTransaction) throw noTransactionOf('fromKnex', 'that of knex.transaction(async trx => …)', tx);
      return queryOf(tx as Executor);
    },
    transaction: work => knex.transaction(tx => work(tx, queryOf(tx)), { isolationLevel: 'read committed' }),
  };
}

interface Internals {
  raw?: unknown;
  transaction?: unknown;
  isTransaction?: boolean;
  client?: { dialect?: string; config?: { pool?: { max?: number } } };
}

type Executor = Pick<KnexDatabase<unknown>, 'raw'>;

/** Knex's placeholders are question marks, of which our SQL has no others. */
function queryOf(handle: Executor): SqlQuery {
  return async (sql, values = []) => {
    const bindings: unknown[] = [];
    const text = sql.replace(/\$(\d+)/g, (_, number) => {
      bindings.push(values[Number(number) - 1]);
      return '?';
    });
    const answer = await handle.raw(text, bindings as never);
    // A merchant's postProcessResponse may have taken the rows out.
    const rows = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | undefined)?.rows;
    if (Array.isArray(rows)) return rows as SqlRow[];
    throw new ConfigurationError(
      'The postProcessResponse of this Knex changes answers of raw(): let it leave them as they are.',
    );
  };
}
