// A journal in the merchant's own Postgres: each method is one statement.

import { ConfigurationError } from '../errors.ts';
import type { Journal, JournalKey, JournalRow, Timed } from '../journal/contract.ts';
import { marginProblem, storeOptions, textProblem } from '../schemas/store-options.ts';
import { repeated } from '../sql/bounded.ts';
import { rowsOf, type SqlDatabase, type SqlQuery, type SqlRow, type SqlValue, sqlStateOf } from '../sql/database.ts';
import { databaseOf, type PostgresDatabase } from './database.ts';
import { advised, ddlOf, durably, indexName, migrate, quoted, tableNameProblem } from './table.ts';

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
}

/** A journal that can create its table. */
export interface PostgresJournal extends Journal {
  /** Creates the table unless it is there. Safe to call at every start, by every replica. */
  migrate(): Promise<void>;
  /** The SQL of `migrate`, for tools that run migrations of their own. */
  ddl(): string;
}

/** How often an insert is tried that finds its reference taken, and then freed at the same instant. */
const MOST_TRIES = 10;

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
export function postgresJournal(database: PostgresDatabase, options: PostgresJournalOptions = {}): PostgresJournal {
  const problems = { table: tableNameProblem, scope: textProblem, settleMargin: marginProblem };
  const given = storeOptions('postgresJournal', options, problems);
  const { table = 'payment_gateway_journal', scope, settleMargin } = given;
  const db = databaseOf('postgresJournal', database);
  const sql = statements(quoted(table), indexName(table, 'open'), indexName(table, 'due'));
  /** Each statement is a transaction of its own, which the database has undone if it met another one: it is repeated. */
  const query = (text: string, values?: SqlValue[]): Promise<Line[]> =>
    repeated(() => db.query(text, values)).then(linesOf, explain);

  return {
    scope,
    settleMargin,
    migrate: () => migrate(db, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),

    async read({ scope, reference }) {
      const [line] = await query(sql.read, [scope, reference]);
      return { row: rowOf(line), now: Number(line?.now) };
    },

    async insert(row, tx) {
      const within = tx === undefined ? undefined : queryIn(db, tx);
      const run = (text: string, values: SqlValue[]) =>
        within?.(text, values).then(linesOf, explain) ?? query(text, values);
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const [inserted] = await run(sql.insert, valuesOf(row));
        if (inserted) {
          const now = Number(inserted.now);
          // As it would be read, without the time that takes.
          const written = JSON.parse(JSON.stringify({ ...row, revision: 1, begunAt: now }));
          return { row: written, isInserted: true, now };
        }
        const [line] = await run(sql.read, [row.scope, row.reference]);
        const found = rowOf(line);
        // Without a line, another one was freed at the same instant.
        if (found) return { row: found, isInserted: false, now: Number(line?.now) };
      }
      throw new Error(`Reference ${JSON.stringify(row.reference)} was written by others at the same time.`);
    },

    async replace(row, revision) {
      const [replaced] = await query(sql.replace, [...valuesOf(row), String(row.begunAt), String(revision)]);
      const [line] = replaced ? [replaced] : await query(sql.clock);
      return { isReplaced: Boolean(replaced), now: Number(line?.now) };
    },

    list: async ({ scope, states }) => allOf(await query(sql.list, [scope ?? null, states.join()])),

    async claim({ scope, states, olderThan = 0 }, limit, leaseMs) {
      const seconds = [leaseMs, olderThan].map(ms => String(ms / 1000));
      return allOf(await query(sql.claim, [scope ?? null, states.join(), String(limit), ...seconds]));
    },
  };
}

/** Runs statements in a transaction of the merchant's. */
function queryIn<Tx>(db: SqlDatabase<Tx>, tx: unknown): SqlQuery {
  if (db.queryIn) return db.queryIn(tx as Tx);
  throw new ConfigurationError('To write into your transaction, the SqlDatabase needs queryIn(tx).');
}

/** What Postgres answers where a table is missing. */
const NO_TABLE = '42P01';

/** The first error of whoever forgets `migrate`, and of whoever takes a replica for the primary. */
function explain(error: Error): never {
  if (sqlStateOf(error) !== NO_TABLE) throw advised(error);
  throw Object.assign(new Error(`${error.message}: was journal.migrate() called?`, { cause: error }), {
    code: NO_TABLE,
  });
}

/** What a replica knows is old, and a payment that it does not know yet would be made again. */
function linesOf(answer: readonly SqlRow[]): Line[] {
  const lines = rowsOf(answer) as unknown as Line[];
  if (lines[0]?.replica === 'true') throw new Error('The journal was read from a replica: it needs the primary.');
  return lines;
}

/** A line of an answer. All of it is text, because a merchant may have taught the driver other ways of reading. */
interface Line extends Partial<JournalKey> {
  now: string;
  replica?: string;
  state: JournalRow['state'];
  revision: string | null;
  begun: string;
  due: string | null;
  leased: string | null;
  details: string;
}

/** In the order of the placeholders. */
const valuesOf = ({ scope, reference, state, revision, begunAt, dueAt, leasedUntil, ...details }: JournalRow) => [
  scope,
  reference,
  state,
  dueAt === undefined ? null : String(dueAt),
  leasedUntil === undefined ? null : String(leasedUntil),
  JSON.stringify(details),
];

function rowOf(line: Line | undefined): JournalRow | undefined {
  if (!line || line.revision === null) return undefined;
  const { scope = '', reference = '', state, revision, begun, due, leased, details } = line;
  return {
    ...JSON.parse(details),
    scope,
    reference,
    state,
    revision: Number(revision),
    begunAt: Number(begun),
    ...(due !== null && { dueAt: Number(due) }),
    ...(leased !== null && { leasedUntil: Number(leased) }),
  };
}

const allOf = (lines: Line[]): Timed<{ rows: JournalRow[] }> => ({
  rows: lines.flatMap(line => rowOf(line) ?? []),
  now: Number(lines[0]?.now),
});

/** Milliseconds since 1970, as text. */
const ms = (moment: string) => `floor(extract(epoch FROM ${moment}) * 1000)::bigint::text`;
const moment = (placeholder: string) => `to_timestamp(${placeholder}::text::double precision / 1000)`;

/** Of seconds. */
const interval = (placeholder: string) => `make_interval(secs => ${placeholder}::text::double precision)`;

const NOW = `${ms('clock_timestamp()')} AS now`;

/** The store's time, on a line of its own if there is no row. */
const CLOCK = `(SELECT ${NOW}, pg_is_in_recovery()::text AS replica) AS clock`;

const statements = (journal: string, openIndex: string, dueIndex: string) => {
  // Names of one word in lower case: plugins of query builders write others in their own way.
  const columns = `scope, reference, state, revision::text, ${ms('begun_at')} AS begun, ${ms('due_at')} AS due,
    ${ms('leased_until')} AS leased, details::text`;
  const key = 'scope = $1::text AND reference = $2::text';
  const asked = `($1::text IS NULL OR scope = $1::text) AND state = ANY (string_to_array($2::text, ','))`;
  return {
    read: `SELECT now, replica, ${columns} FROM ${CLOCK} LEFT JOIN ${journal} ON ${key}`,

    // These two are what a create waits for, so they are as simple as can be: planning takes longer than running them.
    insert: `INSERT INTO ${journal} (scope, reference, state, revision, begun_at, due_at, leased_until, details)
      VALUES ($1::text, $2::text, $3::text, ${durably('1')}, clock_timestamp(), ${moment('$4')}, ${moment('$5')},
        $6::text::json)
      ON CONFLICT (scope, reference) DO NOTHING RETURNING ${ms('begun_at')} AS now`,

    replace: `UPDATE ${journal} SET state = $3::text, revision = ${durably('revision + 1')}, begun_at = ${moment('$7')},
        due_at = ${moment('$4')}, leased_until = ${moment('$5')}, details = $6::text::json
      WHERE ${key} AND revision = $8::text::integer RETURNING ${NOW}`,

    clock: `SELECT ${NOW}`,

    list: `SELECT now, replica, listed.* FROM ${CLOCK} LEFT JOIN
      (SELECT ${columns}, begun_at FROM ${journal} WHERE ${asked}) AS listed ON true ORDER BY begun_at`,

    claim: `WITH waiting AS (
        SELECT scope, reference FROM ${journal}
        WHERE ${asked} AND due_at <= now() AND coalesce(leased_until <= now(), true)
          AND begun_at <= now() - ${interval('$5')}
        ORDER BY due_at LIMIT $3::text::bigint FOR UPDATE SKIP LOCKED),
      claimed AS (
        UPDATE ${journal} AS row SET revision = revision + 1,
          leased_until = clock_timestamp() + ${interval('$4')}
        FROM waiting WHERE row.scope = waiting.scope AND row.reference = waiting.reference RETURNING row.*)
      SELECT now, replica, leased.* FROM ${CLOCK} LEFT JOIN
      (SELECT ${columns}, due_at FROM claimed) AS leased ON true ORDER BY due_at`,

    // Never change one that was published: add another.
    migrations: [
      // details is json, not jsonb: jsonb refuses a NUL that the gateway may echo.
      `CREATE TABLE IF NOT EXISTS ${journal} (
        scope text NOT NULL,
        reference text NOT NULL,
        state text NOT NULL,
        revision integer NOT NULL,
        begun_at timestamptz NOT NULL,
        due_at timestamptz,
        leased_until timestamptz,
        details json NOT NULL,
        PRIMARY KEY (scope, reference)
      )`,
      // Doubts are few, and found without reading the created ones, which stay for ever.
      `CREATE INDEX IF NOT EXISTS ${openIndex} ON ${journal} (begun_at) WHERE state IN ('planned', 'begun')`,
      // What a sweep looks at: not the final ones.
      `CREATE INDEX IF NOT EXISTS ${dueIndex} ON ${journal} (due_at) WHERE due_at IS NOT NULL`,
    ],
  };
};
