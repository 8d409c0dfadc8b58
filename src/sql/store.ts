// A store in the merchant's own database, over one dialect's SQL.
import { ConfigurationError } from '../errors.ts';
import type { DueQuery, Store, StoreRow } from '../store/contract.ts';
import { scopeProblem } from '../store/key.ts';
import { marginProblem, type ProblemOf, storeOptions } from '../store/options.ts';
import { inTime, limitsOf, repeated } from './bounded.ts';
import { rowsOf, type SqlDatabase, type SqlQuery, type SqlRow } from './database.ts';
import type { Dialect, Statement, Table } from './dialect.ts';
import { effectsOver } from './effect.ts';
import { advise, noTransaction, unreadable } from './errors.ts';
import { ddlOf, migrate, prefixProblem, tableOf } from './table.ts';

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

/** @param own problems of the options of one database */
export function sqlStoreOptions<Options extends SqlStoreOptions>(
  owner: string,
  options: Options,
  own: Record<string, ProblemOf> = {},
) {
  const problems = { scope: scopeProblem, tablePrefix: prefixProblem, settleMargin: marginProblem, ...own };
  const { scope, tablePrefix = 'payment_gateway', ...rest } = storeOptions(owner, options ?? {}, problems as never);
  if (scope === undefined)
    throw new ConfigurationError(`${owner}: scope is missing: pass { scope: 'eu-terminal' }, one per terminal.`);
  return { ...rest, scope, table: tableOf(tablePrefix) };
}

export function sqlStore<Tx>(db: SqlDatabase<Tx>, dialect: Dialect, options: SqlStoreOptions): Store<Tx> {
  const { scope, settleMargin } = options;
  const { statements: inTurn } = limitsOf(db);
  /** Runs a transaction of the SDK alone, and retries it if the database undid it. */
  const alone = <T>(statement: () => Promise<T>) => inTurn(() => repeated(statement)).catch(advise);
  const query = inTime((text, values) => alone(() => db.query(text, values)));

  let kept: Table | undefined;
  const open = async () => {
    kept ??= await tableIn(query, dialect, scope);
    return kept;
  };
  const one = async (statementOf: (table: Table) => Statement) => {
    const table = await open();
    const { row, now } = table.answerOf(await query(...statementOf(table)));
    return { row, now };
  };
  /** Writes in the merchant's transaction, without retries, because a failure ends it. */
  const writeIn = async (row: StoreRow, tx: Tx) => {
    const within = db.queryIn(tx);
    const query: SqlQuery = async (text, values) =>
      within(text, values).then(rowsOf, error => {
        // Other values lack the methods of a transaction.
        throw error instanceof TypeError ? noTransaction(error) : advise(error);
      });
    // Not kept, because the merchant's connection may have another path or database.
    const table = kept ?? (await tableIn(query, dialect, scope));
    return table.write(query, row, false);
  };

  const { channel, migrations } = dialect;
  return {
    scope,
    settleMargin,
    ...(channel && db.listen && { watch: db.listen.bind(db, channel) }),
    async migrate() {
      await migrate(db, migrations).catch(advise);
      await open();
    },
    ddl: () => ddlOf(migrations),
    read: key => one(table => table.read(key)),
    owner: paymentId => one(table => table.owner(paymentId)),
    write: async (row, tx) => (tx === undefined ? (await open()).write(query, row, true) : writeIn(row, tx)),
    async list(which) {
      const table = await open();
      const lines = await query(...table.list(which));
      return { now: table.answerOf(lines).now, rows: rowsIn(table, lines) };
    },
    async due(which, limit, leaseMs) {
      const table = await open();
      return alone(() => db.transaction(async tx => leaseDue(db.queryIn(tx), table, which, limit, leaseMs)));
    },
    effect: effectsOver(db, open, query),
  };
}

async function tableIn(query: SqlQuery, { fullName, over }: Dialect, scope: string) {
  const [line] = await query(`SELECT ${fullName} AS name`);
  if (typeof line?.name !== 'string') throw unreadable();
  return over(line.name, scope);
}

const rowsIn = ({ answerOf }: Table, lines: readonly SqlRow[]) =>
  lines.flatMap(line => answerOf([line], false).row ?? []);

async function leaseDue(query: SqlQuery, table: Table, which: DueQuery, limit: number, leaseMs: number) {
  const { kind, states, olderThan = 0 } = which;
  const found: StoreRow[] = [];
  for (const state of states) found.push(...rowsIn(table, await query(...table.due(kind, state, olderThan, limit))));
  // A read without a row also has the time.
  const { now } = table.answerOf(await query(...table.read({ kind, id: '' })), false);
  const leasedUntil = now + leaseMs;
  const rows = found
    .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
    .slice(0, limit)
    .map(row => ({ ...row, revision: row.revision + 1, leasedUntil }));
  const ids = rows.map(({ id }) => id);
  if (rows.length > 0) await query(...table.lease(kind, ids, leasedUntil));
  return { rows, now };
}
