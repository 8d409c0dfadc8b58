// A journal in the merchant's own database: five methods over one dialect's SQL, and plans in transactions.
import { ConfigurationError } from '../errors.ts';
import type { FoundRow } from '../journal/change.ts';
import type {
  DueQuery,
  Journal,
  JournalKey,
  JournalQuery,
  JournalRow,
  JournalState,
  Timed,
} from '../journal/contract.ts';
import { scopeProblem } from '../journal/key.ts';
import { type Planning, planBy } from '../journal/plan.ts';
import { refuseSwapped } from '../journal/planned.ts';
import { marginProblem, type ProblemOf, storeOptions } from '../options/store-options.ts';
import { repeated, turnsOver } from './bounded.ts';
import { noTransaction, type SqlDatabase, type SqlQuery, withoutValues } from './database.ts';
import { tableNameProblem } from './table.ts';

/** Options of a journal, its second argument. */
export interface SqlJournalOptions {
  /**
   * Name of the table of references, or schema.table.
   * @default 'payment_gateway_journal'
   */
  table?: string | undefined;
  /**
   * Scope in which references are unique, at most 255 bytes of UTF-8. Set it per terminal and never change it: in
   * another scope every reference is new and would be paid again.
   * @default a hash of the client's `baseUrl`
   */
  scope?: string | undefined;
  /**
   * Milliseconds from the timeout of a create until `settle(reference, 'not_created')` is accepted, because a packet or
   * a stalled gateway may be late.
   * @default 600_000
   */
  settleMargin?: number | undefined;
}

/** A journal that can create its table. @typeParam Tx your transaction, as `plan` takes it */
export interface SqlJournal<Tx> extends Journal, Planning<Tx> {
  /** Creates the table unless it exists. Safe to call at every start, by every replica. */
  migrate(): Promise<void>;
  /** Returns the SQL of `migrate`, for separate migration tools. */
  ddl(): string;
}

/** The statements of a journal in the SQL of one database. */
export interface JournalSql {
  /** The channel that each plan notifies, if the database can. */
  channel?: string | undefined;
  migrate(database: SqlDatabase<unknown>): Promise<void>;
  ddl(): string;

  read(query: SqlQuery, key: JournalKey): Promise<FoundRow>;
  /** @returns the written row, or undefined if the key is taken */
  insert(query: SqlQuery, row: JournalRow): Promise<JournalRow | undefined>;
  /**
   * Inserts in the merchant's transaction, where it also replaces a freed row.
   *
   * @returns the current row, or undefined outside an open transaction
   */
  insertIn(query: SqlQuery, row: JournalRow): Promise<(FoundRow & { isInserted: boolean }) | undefined>;
  replace(query: SqlQuery, row: JournalRow, revision: number): Promise<Timed<{ isReplaced: boolean }>>;
  list(query: SqlQuery, which: JournalQuery): Promise<Timed<{ rows: JournalRow[] }>>;
  claim(
    database: SqlDatabase<unknown>,
    which: DueQuery,
    limit: number,
    leaseMs: number,
  ): Promise<Timed<{ rows: JournalRow[] }>>;

  /** Returns the database's error, or one that names its cause and the fix. */
  advised(error: unknown): unknown;
}

/** A row of an answer: all of it text, because a merchant may have changed how the driver reads other types. */
export interface JournalLine {
  scope: string;
  reference: string;
  state: JournalState;
  revision: string;
  begun: string;
  due: string | null;
  leased: string | null;
  details: string;
}

export const rowOf = ({ details, revision, begun, due, leased, ...key }: JournalLine): JournalRow => ({
  ...JSON.parse(details),
  scope: key.scope,
  reference: key.reference,
  state: key.state,
  revision: Number(revision),
  begunAt: Number(begun),
  ...(due !== null && { dueAt: Number(due) }),
  ...(leased !== null && { leasedUntil: Number(leased) }),
});

/**
 * Throws the error of a step after a write, without its code. A code such as that of an unreachable server may mean
 * that nothing was written.
 */
export function afterWrite(error: Error): never {
  if (error instanceof ConfigurationError) throw error;
  throw new Error(`${error.message} (after a write)`, { cause: error });
}

/** Checks of the options that every journal has. */
export const journalProblems: Record<keyof SqlJournalOptions, ProblemOf> = {
  table: tableNameProblem,
  scope: scopeProblem,
  settleMargin: marginProblem,
};

/** @throws {ConfigurationError} naming every option that is wrong */
export function journalOptions<Options extends SqlJournalOptions>(
  owner: string,
  options: Options,
  problems: { [Name in keyof Required<Options>]: ProblemOf },
): Options & { table: string } {
  const { table = 'payment_gateway_journal', ...given } = storeOptions(owner, options, problems);
  return { ...given, table } as Options & { table: string };
}

/** @param owner the journal's name in messages */
export function sqlJournal<OwnTx>(
  owner: string,
  db: SqlDatabase<unknown>,
  sql: JournalSql,
  { scope, settleMargin }: SqlJournalOptions,
): SqlJournal<OwnTx> {
  const advise = (error: unknown): never => {
    throw sql.advised(withoutValues(error));
  };
  const inTurn = turnsOver(db);
  /** Runs a statement as its own transaction, and retries it if the database undid it because of a concurrent one. */
  const alone = <T>(statement: () => Promise<T>) => inTurn(() => repeated(statement)).catch(advise);
  const query: SqlQuery = (text, values) => alone(() => db.query(text, values));

  const insertAlone = async (row: JournalRow) => {
    const inserted = await sql.insert(query, row);
    if (inserted) return { row: inserted, isInserted: true, now: inserted.begunAt };
    return { ...kept(row, await sql.read(query, row)), isInserted: false };
  };
  /** Inserts in the merchant's transaction, without retries, because a failure ends it. */
  const insertIn = (tx: unknown) => {
    const within = db.queryIn(tx);
    const advised: SqlQuery = (text, values) => within(text, values).catch(advise);
    return async (row: JournalRow) => {
      const written = await sql.insertIn(advised, row);
      if (!written) throw noTransaction();
      const { isInserted } = written;
      const found = kept(row, written);
      if (!isInserted && found.row.state === 'freed') throw new Error(freedMeanwhile(row));
      return { ...found, isInserted };
    };
  };

  const { channel } = sql;
  const listen = db.listen?.bind(db);
  const journal: SqlJournal<OwnTx> = {
    scope,
    settleMargin,
    ...(channel && listen && { watch: (onPlanned, signal) => listen(channel, onPlanned, signal) }),
    migrate: () => sql.migrate(db).catch(advise),
    ddl: () => sql.ddl(),

    async plan(tx, request, options) {
      refuseSwapped(tx);
      if (tx === undefined || tx === null) throw noTransaction();
      return planBy(insertIn(tx), scope, owner, request, options);
    },

    read: key => sql.read(query, key),

    insert: async (row, tx) => (tx === undefined ? insertAlone(row) : insertIn(tx)(row)),

    replace: (row, revision) => sql.replace(query, row, revision),
    list: which => sql.list(query, which),
    claim: (which, limit, leaseMs) => alone(() => sql.claim(db, which, limit, leaseMs)),
  };
  return journal;
}

const freedMeanwhile = ({ reference }: JournalRow) =>
  `Reference ${JSON.stringify(reference)} was freed while it was planned, so nothing was planned: roll back, and plan it again.`;

/** @throws Error without a row: a table changed in this way would let references be paid again */
function kept({ reference }: JournalRow, { row, now }: FoundRow): Timed<{ row: JournalRow }> {
  if (row) return { row, now };
  throw new Error(
    `Reference ${JSON.stringify(reference)} could neither be written nor found. A trigger on the table, or somebody who deletes its rows, prevents it.`,
  );
}
