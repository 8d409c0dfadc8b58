// A store in the merchant's own database, over one dialect's SQL.
import { ConfigurationError } from '../errors.ts';
import { marginProblem, type ProblemOf, storeOptions } from '../options/store-options.ts';
import type { DueQuery, RowKey, RowQuery, Store, StoreRow, WithNow, Written } from '../store/contract.ts';
import { scopeProblem } from '../store/key.ts';
import { repeated, turnsOver } from './bounded.ts';
import { noTransaction, rowsOf, type SqlDatabase, type SqlQuery, withoutValues } from './database.ts';
import { type EffectSql, effectsOver } from './effect.ts';
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

/** The statements of a store in the SQL of one database. @typeParam Begun what identifies the mark of a running effect */
export interface StoreSql<Begun> extends EffectSql<Begun> {
  /** The channel that each planned payout notifies, if the database can. */
  readonly channel?: string | undefined;
  migrate(database: SqlDatabase<unknown>): Promise<void>;
  ddl(): string;
  /** Returns the database's error, or one that names its cause and the fix. */
  advised(error: unknown): unknown;

  read(query: SqlQuery, key: RowKey): Promise<WithNow<{ row?: StoreRow | undefined }>>;
  owner(query: SqlQuery, paymentId: string): Promise<WithNow<{ row?: StoreRow | undefined }>>;
  /** Writes outside any transaction, durably. @throws {PaymentTaken} */
  write(query: SqlQuery, row: StoreRow): Promise<Written>;
  /** Writes in the merchant's transaction. @returns undefined outside an open one @throws {PaymentTaken} */
  writeIn(query: SqlQuery, row: StoreRow): Promise<Written | undefined>;
  list(query: SqlQuery, which: RowQuery): Promise<WithNow<{ rows: StoreRow[] }>>;
  due(
    database: SqlDatabase<unknown>,
    which: DueQuery,
    limit: number,
    leaseMs: number,
  ): Promise<WithNow<{ rows: StoreRow[] }>>;
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
export function sqlStore<Tx, Begun>(
  db: SqlDatabase<Tx>,
  sql: StoreSql<Begun>,
  { scope, settleMargin }: Pick<ReadStoreOptions, 'scope' | 'settleMargin'>,
): Store<Tx> {
  const advise = (error: unknown): never => {
    throw sql.advised(withoutValues(error));
  };
  const inTurn = turnsOver(db);
  /** Runs a statement as its own transaction, and retries it if the database undid it because of a concurrent one. */
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
    const written = await sql.writeIn(advised, row);
    if (!written) throw noTransaction();
    return written;
  };

  const { channel } = sql;
  const listen = db.listen?.bind(db);
  return {
    scope,
    settleMargin,
    ...(channel && listen && { watch: (onPlanned, signal) => listen(channel, onPlanned, signal) }),
    migrate: () => sql.migrate(db).catch(advise),
    ddl: () => sql.ddl(),
    read: key => sql.read(query, key),
    owner: paymentId => sql.owner(query, paymentId),
    write: async (row, tx) => (tx === undefined ? sql.write(query, row) : writeIn(row, tx)),
    list: which => sql.list(query, which),
    due: (which, limit, leaseMs) => alone(() => sql.due(db, which, limit, leaseMs)),
    effect: effectsOver(db, sql, query, advise),
  };
}

/**
 * Throws the error of a step after a write, without its code. A code such as that of an unreachable server may mean
 * that nothing was written.
 */
export function afterWrite(error: Error): never {
  if (error instanceof ConfigurationError) throw error;
  throw new Error(`${error.message} (after a write)`, { cause: error });
}

/** The error for a row that changed while an effect ran. Its code makes the store repeat the effect. */
export const rowChanged = (): Error =>
  Object.assign(new Error('Another process changed a row of this effect. The effect was rolled back.'), {
    code: '40001',
  });
