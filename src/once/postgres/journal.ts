// A journal in the merchant's own Postgres: every transition is one statement, and bears the token of its attempt.
import { checkOptionNames } from '../../option-names.ts';
import { failing, inTime } from '../../time.ts';
import { type Doubt, isOwn, type Journal, type JournalKey, type JournalRecord } from '../journal.ts';
import { checkPool, identifier, migrate, type PgPool } from './pool.ts';

export interface PostgresJournalOptions {
  /**
   * The table of references, or schema.table.
   * @default 'payment_gateway_journal'
   */
  table?: string | undefined;
  /**
   * What references are unique within: set it per terminal.
   * @default a hash of the client's `baseUrl`
   */
  scope?: string | undefined;
}

export interface PostgresJournal extends Journal {
  /** Creates the table unless it is there. Safe to call at every start, by every replica. */
  migrate(): Promise<void>;
}

/** Milliseconds for one statement: a pool that is used up may keep it waiting for ever. */
const LONGEST_STATEMENT = 5_000;

/** How often a reference may be freed between our two looks at it. */
const MOST_TRIES = 10;

/**
 * At most one payment per reference, across processes and crashes.
 *
 * @param pool the merchant's own `pg` pool
 * @throws {ConfigurationError} for a table name that is none
 * @example
 * const journal = postgresJournal(pool, { scope: 'eu-terminal' });
 * await journal.migrate();
 * const gateway = new GatewayClient({ journal });
 */
export function postgresJournal(pool: PgPool, options: PostgresJournalOptions = {}): PostgresJournal {
  checkOptionNames('postgresJournal', options, ['table', 'scope']);
  checkPool('postgresJournal', pool);
  const { table = 'payment_gateway_journal', scope } = options;
  const journal = identifier(table);
  const here = 'scope = $1 AND reference = $2';

  /** The rows that a statement on one reference has changed or found. */
  async function rowsOf<Row>(
    sql: string,
    { scope, reference }: JournalKey,
    ...values: unknown[]
  ): Promise<Row[]> {
    const querying = pool.query(sql, [scope, reference, ...values]);
    const { rows } = await inTime(querying, LONGEST_STATEMENT, failing('Postgres did not answer in time.'));
    return rows as Row[];
  }
  const changes = async (sql: string, key: JournalKey, ...values: unknown[]) =>
    (await rowsOf(`${sql} RETURNING token`, key, ...values)).length > 0;

  async function read(key: JournalKey): Promise<JournalRecord | undefined> {
    const [row] = await rowsOf<Row>(`SELECT ${COLUMNS} FROM ${journal} WHERE ${here}`, key);
    return row && recordOf(row);
  }

  /** Sets what is told, and answers the id that stood there before if it is another. */
  async function tell(set: string, key: JournalKey, token: string, id: string, ...values: unknown[]) {
    const [row] = await rowsOf<{ before: string | null }>(
      `WITH standing AS (SELECT payment_id FROM ${journal} WHERE ${here} AND token = $3 FOR UPDATE)
       UPDATE ${journal} SET ${set} FROM standing WHERE ${here} AND token = $3 RETURNING standing.payment_id AS before`,
      key,
      token,
      id,
      ...values,
    );
    const other = row?.before && row.before !== id.toLowerCase() ? row.before : undefined;
    return { accepted: row !== undefined, other };
  }

  return {
    scope,
    migrate: () => migrate(pool, table, journalDdl(journal)),
    read,

    // Not bounded here: whoever gives up waiting must know when it has ended, to undo it.
    async begin({ scope, reference, token, timeoutMs, ...attempt }) {
      const { paymentType, paymentMethod, amount, currency, bodyHash } = attempt;
      const values = [
        scope,
        reference,
        token,
        paymentType,
        paymentMethod,
        amount,
        currency,
        bodyHash,
        timeoutMs / 1000,
      ];
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const rows = await pool.query(beginSql(journal), values).then(({ rows }) => rows, unlessSerialized);
        if (rows.length > 0) return undefined;
        const standing = await read({ scope, reference });
        // Ours, if the statement took effect although its connection broke, and was sent again.
        if (standing) return isOwn(standing, token) ? undefined : standing;
      }
      throw new Error(`Reference ${JSON.stringify(reference)} is taken and freed again and again.`);
    },

    accept: (key, token, result) =>
      tell(
        `payment_id = $4, result = $5, stray_ids = CASE WHEN standing.payment_id <> $4
           THEN array_append(stray_ids, standing.payment_id) ELSE stray_ids END`,
        key,
        token,
        result.payment.id,
        JSON.stringify(result),
      ),

    suspect: (key, token, paymentId) =>
      tell(
        `payment_id = COALESCE(standing.payment_id, $4), stray_ids = CASE WHEN standing.payment_id <> $4
           THEN array_append(stray_ids, $4) ELSE stray_ids END`,
        key,
        token,
        paymentId,
      ),

    settle: (key, token, result, disproved) =>
      changes(
        `UPDATE ${journal} SET payment_id = $4, result = $5, stray_ids = CASE WHEN payment_id <> $4
           THEN array_append(stray_ids, payment_id) ELSE stray_ids END
         WHERE ${here} AND token = $3 AND result IS NULL
           AND (payment_id IS NULL OR payment_id IN ($4, $6::uuid))`,
        key,
        token,
        result.payment.id,
        JSON.stringify(result),
        disproved,
      ),

    release: (key, token) =>
      changes(
        `DELETE FROM ${journal} WHERE ${here} AND token = $3 AND payment_id IS NULL AND ${UNCLAIMED}`,
        key,
        token,
      ),

    abandon: (key, token, disproved) =>
      changes(
        `DELETE FROM ${journal} WHERE ${here} AND token = $3 AND (payment_id IS NULL OR payment_id = $4::uuid)
           AND ${UNCLAIMED} AND deadline < clock_timestamp()`,
        key,
        token,
        disproved,
      ),

    keepStray: (key, token, paymentId) =>
      changes(
        `UPDATE ${journal} SET stray_ids = CASE WHEN payment_id = $4 OR $4 = ANY (stray_ids)
           THEN stray_ids ELSE array_append(stray_ids, $4) END
         WHERE ${here} AND token = $3`,
        key,
        token,
        paymentId,
      ),

    async inDoubt() {
      const { rows } = await pool.query(
        `SELECT ${COLUMNS} FROM ${journal} WHERE result IS NULL AND ($1::text IS NULL OR scope = $1) ORDER BY begun_at`,
        [scope ?? null],
      );
      return (rows as Row[]).map(recordOf).map(({ scope, reference, since, paymentId }): Doubt => {
        return { scope, reference, since, paymentId };
      });
    },
  };
}

interface Row {
  scope: string;
  reference: string;
  token: string;
  payment_type: 'DEPOSIT' | 'WITHDRAWAL';
  payment_method: string;
  amount: string;
  currency: string;
  body_hash: string;
  since: string;
  payment_id: string | null;
  stray_ids: string;
  result: string | null;
}

/** As text, for a merchant may have taught the driver other ways of reading dates and JSON. */
const COLUMNS = `scope, reference, token::text, payment_type, payment_method, amount, currency, body_hash,
  (extract(epoch FROM begun_at) * 1000)::text AS since, payment_id::text, array_to_string(stray_ids, ' ') AS stray_ids,
  result::text`;

/** There is no result, and no further payment. */
const UNCLAIMED = "result IS NULL AND stray_ids = '{}'";

/** Under a stricter isolation than usual, two that begin at once are told apart by an error: one of them has begun. */
function unlessSerialized(error: unknown): never[] {
  if ((error as { code?: unknown }).code === '40001') return [];
  throw error;
}

const recordOf = (row: Row): JournalRecord => ({
  scope: row.scope,
  reference: row.reference,
  token: row.token,
  paymentType: row.payment_type,
  paymentMethod: row.payment_method,
  amount: row.amount,
  currency: row.currency,
  bodyHash: row.body_hash,
  since: new Date(Number(row.since)),
  paymentId: row.payment_id ?? undefined,
  result: row.result ? JSON.parse(row.result) : undefined,
  ...(row.stray_ids && { strayIds: row.stray_ids.split(' ') }),
});

/**
 * Durable even where the database answers a COMMIT before it is: an attempt that is forgotten after the request has left
 * would be paid again.
 */
const beginSql = (journal: string) => `
  INSERT INTO ${journal}
    (scope, reference, token, payment_type, payment_method, amount, currency, body_hash, deadline)
  SELECT $1, $2, $3::uuid, $4, $5, $6, $7, $8, clock_timestamp() + make_interval(secs => $9)
  FROM (SELECT CASE current_setting('synchronous_commit')
    WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END) AS durable
  ON CONFLICT (scope, reference) DO NOTHING
  RETURNING token`;

// result is json, not jsonb: jsonb refuses a NUL that the gateway may echo.
const journalDdl = (journal: string) => `
  CREATE TABLE IF NOT EXISTS ${journal} (
    scope text NOT NULL,
    reference text NOT NULL,
    token uuid NOT NULL,
    payment_type text NOT NULL,
    payment_method text NOT NULL,
    amount text NOT NULL,
    currency text NOT NULL,
    body_hash text NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT now(),
    deadline timestamptz NOT NULL,
    payment_id uuid,
    stray_ids uuid[] NOT NULL DEFAULT '{}',
    result json,
    PRIMARY KEY (scope, reference)
  )`;
