// A store in the merchant's own database, over one dialect's SQL.
import { ConfigurationError } from '../errors.ts';
import { marginProblem, type ProblemOf, storeOptions } from '../options/store-options.ts';
import type { Store, StoreRow } from '../store/contract.ts';
import { scopeProblem } from '../store/key.ts';
import { repeated, turnsOver } from './bounded.ts';
import { rowsOf, type SqlDatabase, type SqlQuery } from './database.ts';
import { effectsOver } from './effect.ts';
import { advised, noTransaction, withoutValues } from './errors.ts';
import type { Rows } from './rows.ts';
import { tableNameProblem } from './table.ts';

/** Options of a store, its second argument. */
export interface SqlStoreOptions {
  /**
   * Scope in which references are unique, at most 255 bytes of UTF-8. Set one per terminal, another for a sandbox, and
   * never change it: in another scope every reference is new and can be paid again.
   */
  scope: string;
  /**
   * Beginning of the name of its table, such as `payment_gateway` or `billing.payment_gateway`.
   * @default 'payment_gateway'
   */
  tablePrefix?: string | undefined;
  /**
   * Milliseconds after a create's timeout until `settle(reference, 'not_created')` is accepted, because the request can
   * still arrive late.
   * @default 600_000
   */
  settleMargin?: number | undefined;
}

const prefixProblem: ProblemOf = value => tableNameProblem(value) ?? tableNameProblem(tableOf(value));
const tableOf = (prefix: unknown) => `${prefix}_rows`;

/** A store's options, with the name of its table. */
export interface ReadStoreOptions {
  scope: string;
  table: string;
  settleMargin?: number | undefined;
  prepare?: boolean | undefined;
}

/**
 * @param own checks for the options of one database alone
 * @throws {ConfigurationError} naming every option that is wrong or missing
 */
export function sqlStoreOptions(
  owner: string,
  options: SqlStoreOptions & Pick<ReadStoreOptions, 'prepare'>,
  own: Record<string, ProblemOf> = {},
): ReadStoreOptions {
  const problems = { scope: scopeProblem, tablePrefix: prefixProblem, settleMargin: marginProblem, ...own };
  const { scope, tablePrefix = 'payment_gateway', ...rest } = storeOptions(owner, options ?? {}, problems as never);
  if (scope === undefined) {
    throw new ConfigurationError(`${owner}: scope is missing: pass { scope: 'eu-terminal' }, one per terminal.`);
  }
  return { ...rest, scope, table: tableOf(tablePrefix) };
}

/** Makes a store over a database and its SQL. */
export function sqlStore<Tx>(
  db: SqlDatabase<Tx>,
  rows: Rows,
  { scope, settleMargin }: Pick<ReadStoreOptions, 'scope' | 'settleMargin'>,
): Store<Tx> {
  const advise = (error: unknown): never => {
    throw advised(withoutValues(error));
  };
  const inTurn = turnsOver(db);
  /** Runs a statement as its own transaction, and retries it if the database undid it. */
  const alone = <T>(statement: () => Promise<T>) => inTurn(() => repeated(statement)).catch(advise);
  const query: SqlQuery = (text, values) => alone(async () => rowsOf(await db.query(text, values)));

  /** Writes in the merchant's transaction, without retries, because a failure ends it. */
  const writeIn = async (row: StoreRow, tx: Tx) => {
    const within = db.queryIn(tx);
    const failed = (error: unknown): never => {
      // Another value does not have the methods of a transaction.
      if (error instanceof TypeError) throw noTransaction(error);
      return advise(error);
    };
    const advised: SqlQuery = async (text, values) => rowsOf(await within(text, values).catch(failed));
    return rows.writeIn(advised, row);
  };

  const { channel } = rows;
  const listen = db.listen?.bind(db);
  return {
    scope,
    settleMargin,
    ...(channel && listen && { watch: (onPlanned, signal) => listen(channel, onPlanned, signal) }),
    migrate: () => rows.migrate(db).catch(advise),
    ddl: () => rows.ddl(),
    read: key => rows.read(query, key),
    owner: paymentId => rows.owner(query, paymentId),
    write: async (row, tx) => (tx === undefined ? rows.write(query, row) : writeIn(row, tx)),
    list: which => rows.list(query, which),
    due: (which, limit, leaseMs) => alone(() => rows.due(db, which, limit, leaseMs)),
    effect: effectsOver(db, rows, query, advise),
  };
}
