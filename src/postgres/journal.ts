// A journal in the merchant's own Postgres: each method is one statement.
import type { Journal, JournalKey, JournalRow, Timed } from '../journal/contract.ts';
import { marginProblem, storeOptions, textProblem } from '../schemas/store-options.ts';
import {
  checkPool,
  ddlOf,
  durably,
  indexName,
  migrate,
  type PgPool,
  quoted,
  repeated,
  tableNameProblem,
} from './pool.ts';

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
 * @param pool the merchant's own `pg` pool
 * @throws {ConfigurationError} for what is no pool, or a table name that is none
 * @example
 * const journal = postgresJournal(pool, { scope: 'eu-terminal' });
 * await journal.migrate();
 * const gateway = new GatewayClient({ journal });
 */
export function postgresJournal(pool: PgPool, options: PostgresJournalOptions = {}): PostgresJournal {
  const problems = { table: tableNameProblem, scope: textProblem, settleMargin: marginProblem };
  const given = storeOptions('postgresJournal', options, problems);
  const { table = 'payment_gateway_journal', scope, settleMargin } = given;
  checkPool('postgresJournal', pool);
  const sql = statements(quoted(table), indexName(table, 'open'));
  /** Each statement is a transaction of its own, which the database has undone if it met another one: it is repeated. */
  const query = (text: string, values: unknown[]): Promise<Line[]> =>
    repeated(async () => (await pool.query(text, values)).rows as Line[]).catch(askForTable);

  return {
    scope,
    settleMargin,
    migrate: () => migrate(pool, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),

    async read({ scope, reference }) {
      const [line] = await query(sql.read, [scope, reference]);
      return { row: rowOf(line), now: Number(line?.now) };
    },

    async insert(row, tx) {
      const client = tx as Pick<PgPool, 'query'> | undefined;
      const run = async (text: string, values: unknown[]) =>
        client ? ((await client.query(text, values)).rows as Line[]) : query(text, values);
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
      const [replaced] = await query(sql.replace, [...valuesOf(row), row.begunAt, revision]);
      const [line] = replaced ? [replaced] : await query(sql.clock, []);
      return { isReplaced: Boolean(replaced), now: Number(line?.now) };
    },

    list: async ({ scope, states }) => rowsOf(await query(sql.list, [scope ?? null, states])),

    claim: async ({ scope, states }, limit, leaseMs) =>
      rowsOf(await query(sql.claim, [scope ?? null, states, limit, leaseMs / 1000])),
  };
}

/** What Postgres answers where a table is missing. */
const NO_TABLE = '42P01';

/** The first error of whoever forgets `migrate`. */
function askForTable(error: Error & { code?: unknown }): never {
  const { message, code } = error;
  if (code !== NO_TABLE) throw error;
  throw Object.assign(new Error(`${message}: was journal.migrate() called?`, { cause: error }), { code });
}

/** A line of an answer. All of it is text, because a merchant may have taught the driver other ways of reading. */
interface Line extends Partial<JournalKey> {
  now: string;
  state: JournalRow['state'];
  revision: string | null;
  begun_at: string;
  due_at: string | null;
  leased_until: string | null;
  details: string;
}

/** In the order of the placeholders. */
const valuesOf = ({ scope, reference, state, revision, begunAt, dueAt, leasedUntil, ...details }: JournalRow) => [
  scope,
  reference,
  state,
  dueAt ?? null,
  leasedUntil ?? null,
  JSON.stringify(details),
];

function rowOf(line: Line | undefined): JournalRow | undefined {
  if (!line || line.revision === null) return undefined;
  const { scope = '', reference = '', state, revision, begun_at, due_at, leased_until, details } = line;
  return {
    ...JSON.parse(details),
    scope,
    reference,
    state,
    revision: Number(revision),
    begunAt: Number(begun_at),
    ...(due_at !== null && { dueAt: Number(due_at) }),
    ...(leased_until !== null && { leasedUntil: Number(leased_until) }),
  };
}

const rowsOf = (lines: Line[]): Timed<{ rows: JournalRow[] }> => ({
  rows: lines.flatMap(line => rowOf(line) ?? []),
  now: Number(lines[0]?.now),
});

/** Milliseconds since 1970, as text. */
const ms = (moment: string) => `floor(extract(epoch FROM ${moment}) * 1000)::bigint::text`;
const moment = (placeholder: string) => `to_timestamp(${placeholder}::double precision / 1000)`;

const NOW = `${ms('clock_timestamp()')} AS now`;

/** The store's time, on a line of its own if there is no row. */
const CLOCK = `(SELECT ${NOW}) AS clock`;

const statements = (journal: string, openIndex: string) => {
  const columns = `scope, reference, state, revision::text, ${ms('begun_at')} AS begun_at, ${ms('due_at')} AS due_at,
    ${ms('leased_until')} AS leased_until, details::text`;
  const asked = '($1::text IS NULL OR scope = $1) AND state = ANY ($2)';
  return {
    read: `SELECT now, ${columns} FROM ${CLOCK} LEFT JOIN ${journal} ON scope = $1 AND reference = $2`,

    // These two are what a create waits for, so they are as simple as can be: planning takes longer than running them.
    insert: `INSERT INTO ${journal} (scope, reference, state, revision, begun_at, due_at, leased_until, details)
      VALUES ($1, $2, $3, ${durably('1')}, clock_timestamp(), ${moment('$4')}, ${moment('$5')}, $6)
      ON CONFLICT (scope, reference) DO NOTHING RETURNING ${ms('begun_at')} AS now`,

    replace: `UPDATE ${journal} SET state = $3, revision = ${durably('revision + 1')}, begun_at = ${moment('$7')},
        due_at = ${moment('$4')}, leased_until = ${moment('$5')}, details = $6
      WHERE scope = $1 AND reference = $2 AND revision = $8 RETURNING ${NOW}`,

    clock: `SELECT ${NOW}`,

    list: `SELECT now, listed.* FROM ${CLOCK} LEFT JOIN
      (SELECT ${columns}, begun_at AS begun FROM ${journal} WHERE ${asked}) AS listed ON true ORDER BY begun`,

    claim: `WITH due AS (
        SELECT scope, reference FROM ${journal}
        WHERE ${asked} AND due_at <= clock_timestamp() AND coalesce(leased_until <= clock_timestamp(), true)
        ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED),
      claimed AS (
        UPDATE ${journal} AS row SET leased_until = clock_timestamp() + make_interval(secs => $4), revision = revision + 1
        FROM due WHERE row.scope = due.scope AND row.reference = due.reference RETURNING row.*)
      SELECT now, leased.* FROM ${CLOCK} LEFT JOIN
      (SELECT ${columns}, due_at AS due FROM claimed) AS leased ON true ORDER BY due`,

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
    ],
  };
};
