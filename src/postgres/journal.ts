// A journal in the merchant's own Postgres: each method is one statement.

import { ConfigurationError } from '../errors.ts';
import type { Journal, JournalRow } from '../journal/contract.ts';
import type { Planning } from '../journal/plan.ts';
import { refuseSwapped } from '../journal/planned.ts';
import { type EncryptionKey, keyProblem, keysProblem, sealWith } from '../journal/seal.ts';
import { booleanProblem, marginProblem, storeOptions, textProblem } from '../schemas/store-options.ts';
import { repeated } from '../sql/bounded.ts';
import { type SqlDatabase, type SqlQuery, type SqlValue, sqlStateOf } from '../sql/database.ts';
import { databaseOf, type OwnTxOf, type PostgresDatabase } from './database.ts';
import { allOf, type Line, linesOf, rowOf, statements, valuesOf } from './journal-sql.ts';
import type { PgClient } from './pool.ts';
import { advised, ddlOf, migrate, tableNameProblem } from './table.ts';

/** What a `postgresJournal` can take as its second argument. */
export interface PostgresJournalOptions {
  /**
   * The table of references, or schema.table.
   * @default 'payment_gateway_journal'
   */
  table?: string | undefined;
  /**
   * What references are unique within: set it per terminal, and never change it. In another scope every reference is new,
   * and is paid again.
   * @default a hash of the client's `baseUrl`
   */
  scope?: string | undefined;
  /**
   * Milliseconds after the time-out of a create until `settle(reference, 'not_created')` is taken: a packet, or a gateway
   * that stood still, may be late.
   * @default 600_000
   */
  settleMargin?: number | undefined;
  /**
   * Encrypts what is planned until it is sent, by AES-256-GCM: 32 random bytes, or their base64 (`openssl rand -base64 32`).
   * @default what is planned is kept as it is
   */
  encryptionKey?: EncryptionKey | undefined;
  /** Keys that some of what is planned may still be encrypted with, after a rotation. */
  formerEncryptionKeys?: readonly EncryptionKey[] | undefined;
  /**
   * Whether each plan wakes the drains that follow, by NOTIFY. Commits that notify wait for each other in Postgres: turn it
   * off where very many are planned at once, and drains look every second.
   * @default true
   */
  notify?: boolean | undefined;
}

/** A journal that can create its table. @typeParam Tx what `plan` takes: your transaction */
export interface PostgresJournal<Tx = Pick<PgClient, 'query'>> extends Journal, Planning<Tx> {
  /** Creates the table unless it is there. Safe to call at every start, by every replica. */
  migrate(): Promise<void>;
  /** The SQL of `migrate`, for tools that run migrations of their own. */
  ddl(): string;
}

/**
 * At most one payment per reference, across processes and crashes.
 *
 * @param database the merchant's own pool of `pg`; or `fromDrizzle(db)` and its like, as for `postgresInbox`
 * @throws {ConfigurationError} for what is none of them, or a table name that is none
 * @example
 * const journal = postgresJournal(pool, { scope: 'eu-terminal' });
 * await journal.migrate();
 * const gateway = new GatewayClient({ journal });
 */
export function postgresJournal<Database extends PostgresDatabase>(
  database: Database,
  options: PostgresJournalOptions = {},
): PostgresJournal<OwnTxOf<Database>> {
  const problems = {
    table: tableNameProblem,
    scope: textProblem,
    settleMargin: marginProblem,
    encryptionKey: keyProblem,
    formerEncryptionKeys: keysProblem,
    notify: booleanProblem,
  };
  const given = storeOptions('postgresJournal', options, problems);
  const { table = 'payment_gateway_journal', scope, settleMargin, notify = true } = given;
  const { encryptionKey, formerEncryptionKeys } = given;
  if (formerEncryptionKeys && !encryptionKey)
    throw new ConfigurationError('postgresJournal: formerEncryptionKeys are for a journal with an encryptionKey.');
  const db = databaseOf('postgresJournal', database);
  const sql = statements(table);
  const listen = db.listen?.bind(db);
  /** Each statement is a transaction of its own, which the database has undone if it met another one: it is repeated. */
  const query: Lines = (text, values) => repeated(() => db.query(text, values)).then(linesOf, explain);
  /** Asks a transaction of the merchant's for its id. Within it nothing is repeated: it is over then. */
  const enter = async (tx: unknown): Promise<Entered> => {
    if (tx instanceof Entered) return tx;
    const within = queryIn(db, tx);
    const run: Lines = (text, values) => within(text, values).then(linesOf, explain);
    const [line] = await run(sql.transaction);
    return new Entered(run, line?.id ?? '');
  };

  const journal: PostgresJournal<OwnTxOf<Database>> = {
    scope,
    settleMargin,
    seal: encryptionKey ? sealWith(encryptionKey, formerEncryptionKeys) : undefined,
    migrate: () => migrate(db, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),

    async plan(tx, request, options) {
      refuseSwapped(tx);
      if (tx === undefined || tx === null) throw noTransaction();
      // Before anything that the merchant sends next, so that a plan which nobody awaits cannot get into another transaction.
      const own = await enter(tx);
      // Its schemas take longer to load than all the rest of this.
      const { planIn } = await import('../journal/plan.ts');
      return planIn(journal, 'postgresJournal', own, request, options);
    },
    ...(listen && notify && { watch: (onPlanned, signal) => listen(sql.channel, onPlanned, signal) }),

    async read({ scope, reference }) {
      const [line] = await query(sql.read, [scope, reference]);
      const { now } = line ?? ((await query(sql.clock))[0] as Line);
      return { row: rowOf(line), now: Number(now) };
    },

    async insert(row, tx) {
      const own = tx === undefined ? undefined : await enter(tx);
      const run = own?.run ?? query;
      const [inserted] = own
        ? await run(sql.insertIn, [...valuesOf(row), own.id, notify ? sql.channel : null])
        : await run(sql.insert, valuesOf(row));
      if (inserted) return { row: asRead(row, inserted), isInserted: true, now: Number(inserted.now) };
      const [line] = await run(sql.read, [row.scope, row.reference]);
      const found = rowOf(line);
      if (found) return { row: found, isInserted: false, now: Number(line?.now) };
      throw own ? noTransaction() : notKept(row);
    },

    async replace(row, revision, tx) {
      const values = [...valuesOf(row), String(row.begunAt), String(revision)];
      if (tx === undefined) {
        const [replaced] = await query(sql.replace, values);
        const [line] = replaced ? [replaced] : await query(sql.clock);
        return { isReplaced: Boolean(replaced), now: Number(line?.now) };
      }
      const { run, id } = await enter(tx);
      const [replaced] = await run(sql.replaceIn, [...values, id, notify ? sql.channel : null]);
      const [line] = replaced ? [replaced] : await run(sql.transaction);
      if (!replaced && line?.id !== id) throw noTransaction();
      return { isReplaced: Boolean(replaced), now: Number(line?.now) };
    },

    list: async ({ scope, states }) => allOf(await query(sql.list(states, scope), ofScope(scope))),

    async claim({ scope, states, olderThan = 0 }, limit, leaseMs) {
      const seconds = [leaseMs, olderThan].map(ms => String(ms / 1000));
      return allOf(await query(sql.claim(states, scope), [String(limit), ...seconds, ...ofScope(scope)]));
    },
  };
  return journal;
}

type Lines = (text: string, values?: SqlValue[]) => Promise<Line[]>;

/** A transaction of the merchant's, as it was when somebody began to write in it. */
class Entered {
  readonly run: Lines;
  readonly id: string;
  constructor(run: Lines, id: string) {
    this.run = run;
    this.id = id;
  }
}

const ofScope = (scope: string | undefined): string[] => (scope === undefined ? [] : [scope]);

/** As it would be read, without the time that takes. */
const asRead = (row: JournalRow, { now, due }: Line): JournalRow =>
  JSON.parse(
    JSON.stringify({ ...row, revision: 1, begunAt: Number(now), ...(due !== null && { dueAt: Number(due) }) }),
  );

/** Runs statements in a transaction of the merchant's. */
function queryIn<Tx>(db: SqlDatabase<Tx>, tx: unknown): SqlQuery {
  if (db.queryIn) return db.queryIn(tx as Tx);
  throw new ConfigurationError('To write into your transaction, the SqlDatabase needs queryIn(tx).');
}

const noTransaction = () =>
  new ConfigurationError(
    'Nothing was planned: tx is no open transaction. Pass what your transaction runs on, after its BEGIN, and await the plan before its COMMIT.',
  );

/** Whoever has changed the table so would pay references again. */
const notKept = ({ reference }: JournalRow) =>
  new Error(
    `Reference ${JSON.stringify(reference)} could neither be written nor found: a trigger of the table, or somebody who deletes its rows, is in the way.`,
  );

/** What Postgres answers where a table is missing. */
const NO_TABLE = '42P01';

/** The first error of whoever forgets `migrate`, and of whoever takes a replica for the primary. */
function explain(error: Error): never {
  if (sqlStateOf(error) !== NO_TABLE) throw advised(error);
  throw Object.assign(new Error(`${error.message}: was journal.migrate() called?`, { cause: error }), {
    code: NO_TABLE,
  });
}
