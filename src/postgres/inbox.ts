// An inbox in the merchant's own Postgres: the effect of a callback and its mark commit together, or not at all.
import { delay } from '../deadline.ts';
import { ConfigurationError, InvalidRequestError } from '../errors.ts';
import { decide, type Inbox, type InboxEvent, type InboxResult, LOCK_PAUSES, type Mark } from '../inbox/contract.ts';
import { storeOptions } from '../schemas/store-options.ts';
import { bounded, inTime, repeated } from '../sql/bounded.ts';
import { type SqlQuery, sqlStateOf } from '../sql/database.ts';
import { databaseOf, type PostgresDatabase, type TxOf } from './database.ts';
import { advised, ddlOf, durably, lockKey, migrate, quoted, tableNameProblem } from './table.ts';

/** What a `postgresInbox` can take as its second argument. */
export interface PostgresInboxOptions {
  /**
   * The table of marks, or schema.table.
   * @default 'payment_gateway_inbox'
   */
  table?: string | undefined;
}

/** An inbox that hands its transaction to `onPayment`, and can create its table. */
export interface PostgresInbox<Tx> extends Inbox<{ tx: Tx }> {
  /** Creates the table unless it is there. Safe to call at every start, by every replica. */
  migrate(): Promise<void>;
  /** The SQL of `migrate`, for tools that run migrations of their own. */
  ddl(): string;
  /**
   * An operator says what became of an effect that nobody knows about (the event `effect_uncertain`): `done`, so it is
   * never run again; or `again`, so its next callback or sweep runs it.
   *
   * @throws {InvalidRequestError} if this status of the payment is not in doubt
   */
  resolve(paymentId: string, status: string, resolution: 'done' | 'again'): Promise<void>;
}

/**
 * Exactly once, if `onPayment` writes only with `tx`: its writes and the mark are one transaction. One worker per payment
 * is let in, by an advisory lock; all inboxes of a pool hold at most half of it.
 *
 * @param database the merchant's own pool of `pg`, of two clients or more; or `fromDrizzle(db)`, `fromKysely(db)`,
 * `fromKnex(knex)`, `fromPostgresJs(sql)`, `fromPrisma(prisma)`, `fromTypeOrm(dataSource)`
 * @throws {ConfigurationError} for what is none of them, a pool that is too small, or a table name that is none
 * @example
 * const inbox = postgresInbox(pool);
 * await inbox.migrate();
 * const handler = createWebhookHandler({
 *   gateway, inbox,
 *   onPayment: (payment, { tx }) => tx.query('update orders set paid = true where id = $1', [payment.reference]),
 * });
 */
export function postgresInbox<Database extends PostgresDatabase>(
  database: Database,
  options: PostgresInboxOptions = {},
): PostgresInbox<TxOf<Database>> {
  const { table = 'payment_gateway_inbox' } = storeOptions('postgresInbox', options, { table: tableNameProblem });
  const db = databaseOf('postgresInbox', database);
  const sql = statements(quoted(table));
  const transact = bounded(db);
  const lend = db.lend ?? (async (tx, work) => void (await work(tx)));
  const keyOf = ({ paymentId }: InboxEvent) => lockKey(`${table} ${paymentId}`);

  return {
    migrate: () => migrate(db, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),

    run: (event, work) =>
      repeated(async () => {
        const effect = () =>
          transact((tx, query) =>
            takeEffect(query, sql, keyOf(event), event, () => lend(tx, lent => work({ tx: lent }))),
          );
        const { answer, xid } = await effect().catch(async error => {
          if (!(error instanceof Ended)) throw advised(error);
          // What was written after the end of the transaction is committed, and perhaps the mark is not.
          await inTime(db.query)(endings(error.table).keep, valuesOf(event));
          throw endedBefore(error.cause);
        });
        if (xid && !db.checksCommit) await expectCommitted(inTime(db.query), xid);
        return answer;
      }),

    async resolve(paymentId, status, resolution) {
      if (resolution !== 'done' && resolution !== 'again') {
        throw new InvalidRequestError([{ path: 'resolution', message: "must be 'done' or 'again'" }]);
      }
      const rows = await inTime(db.query)(resolution === 'done' ? sql.done : sql.again, [paymentId, status]);
      if (rows.length > 0) return;
      const message = `${status} of this payment is not in doubt: it has no mark that was begun and not finished`;
      throw new InvalidRequestError([{ path: 'status', message }]);
    },
  };
}

/** What became of an event. */
interface Taken {
  answer: InboxResult | readonly Mark[];
  /** The transaction of an effect that ran. */
  xid?: string;
}

/** @throws Error unless the transaction is committed: some libraries do not look whether COMMIT answers ROLLBACK */
async function expectCommitted(query: SqlQuery, xid: string): Promise<void> {
  const [answer] = await query('SELECT txid_status($1::text::bigint) AS status', [xid]);
  if (answer?.status === 'committed') return;
  throw new Error(
    `The transaction of onPayment is ${answer?.status ?? 'unknown'}, and not committed: a query failed that nobody waited for, or something kept it open. Await every query before onPayment returns.`,
  );
}

/**
 * Within one transaction: lock, marks, the mark as begun, the work, the mark as done.
 *
 * @param work answers the first SQL error that it met, if that is known
 * @throws {Ended} if the transaction is another one by then, or none
 */
async function takeEffect(
  query: SqlQuery,
  sql: ReturnType<typeof statements>,
  key: string,
  event: InboxEvent,
  work: () => Promise<unknown>,
): Promise<Taken> {
  await query('SAVEPOINT payment_gateway_inbox').catch(refuseAutoCommit);
  if (!(await lock(query, key))) return { answer: 'busy' };
  const decision = decide((await query(sql.marks, [event.paymentId])).map(markOf), event);
  if (decision !== 'run') return { answer: decision };

  // First of all: whatever commits the effect commits the mark with it.
  const [begun] = await query(sql.begin, valuesOf(event));
  const { xid, name } = begun as { xid: string; name: string };
  let isComplete: boolean;
  try {
    const firstError = await work();
    const completed = await query(endings(name).complete, [event.paymentId, event.status, xid]).catch(error => {
      throw ignoredError(error, firstError);
    });
    isComplete = completed.length > 0;
  } catch (error) {
    throw (await isEnded(query)) ? new Ended(name, error) : error;
  }
  if (!isComplete) throw new Ended(name);
  return { answer: 'ran', xid };
}

const valuesOf = ({ paymentId, status, final }: InboxEvent) => [paymentId, status, String(final)];

/** All of it is text, because a merchant may have taught the driver other ways of reading. */
function markOf(row: unknown): Mark {
  const { status, final, begun } = row as Record<'status' | 'final' | 'begun', string>;
  return { status, final: final === 'true', ...(begun === 'true' && { begun: true }) };
}

/** A worker of another process may have the payment: it is waited for, for a moment. */
async function lock(query: SqlQuery, key: string): Promise<boolean> {
  for (const pause of [...LOCK_PAUSES, undefined]) {
    const [answer] = await query(LOCK, [key]);
    if (answer?.isolation === undefined) throw new ConfigurationError(NO_COLUMNS);
    // A snapshot older than the lock would not show the marks of the worker before.
    if (answer.isolation !== 'read committed') throw new ConfigurationError(NOT_READ_COMMITTED);
    if (answer.locked === 'true') return true;
    if (pause !== undefined) await delay(pause);
  }
  return false;
}

const LOCK = `SELECT pg_try_advisory_xact_lock($1::text::bigint)::text AS locked,
  current_setting('transaction_isolation') AS isolation`;

const NO_COLUMNS =
  'query() of the SqlDatabase must answer rows as objects, with the columns that the statement names: something has renamed or unwrapped them.';

const NOT_READ_COMMITTED =
  'transaction() of the SqlDatabase must begin at READ COMMITTED: a snapshot that is older than the lock of a payment does not show what the worker before has marked.';

/** What Postgres answers what makes sense only within a transaction. */
const NO_TRANSACTION = '25P01';

function refuseAutoCommit(error: unknown): never {
  if (sqlStateOf(error) !== NO_TRANSACTION) throw error;
  throw new ConfigurationError(
    'transaction() of the SqlDatabase ran its query outside a transaction: each statement would be committed by itself, and an effect that fails in the middle would stay. Begin one, and run query in it.',
  );
}

/** No savepoint of that name, or no transaction: in a failed one that is still ours, the savepoint works. */
const WITHOUT_SAVEPOINT: ReadonlySet<unknown> = new Set(['3B001', NO_TRANSACTION]);

/** Whether something other than the inbox has ended its transaction. */
const isEnded = (query: SqlQuery): Promise<boolean> =>
  query('ROLLBACK TO SAVEPOINT payment_gateway_inbox').then(
    () => false,
    error => WITHOUT_SAVEPOINT.has(sqlStateOf(error)),
  );

/** What Postgres answers every statement after one that failed. */
const IN_FAILED_TRANSACTION = '25P02';

function ignoredError(error: unknown, firstError: unknown): unknown {
  if (sqlStateOf(error) !== IN_FAILED_TRANSACTION) return error;
  const message =
    'onPayment ignored an SQL error, so nothing was committed, and the status is not marked. Let the error pass, or use SAVEPOINT for a part that may fail.';
  return new Error(message, { cause: firstError ?? error });
}

/** Something other than the inbox has ended its transaction. */
class Ended extends Error {
  readonly table: string;

  /** @param table with its schema */
  constructor(table: string, cause?: unknown) {
    super('Ended', { cause });
    this.table = table;
  }
}

const endedBefore = (cause: unknown) =>
  new Error(
    'Something other than the inbox ended the transaction of onPayment, so nobody knows how much of it was done: the status is not run again until you call inbox.resolve. Leave BEGIN, COMMIT and ROLLBACK to the inbox.',
    cause === undefined ? undefined : { cause },
  );

const statements = (marks: string) => ({
  marks: `SELECT status, final::text, (handled_at IS NULL)::text AS begun FROM ${marks}
    WHERE payment_id = $1::text::uuid`,

  begin: `INSERT INTO ${marks} (payment_id, status, final) VALUES ($1::text::uuid, $2::text, $3::text::boolean)
    RETURNING ${durably('txid_current()::text')} AS xid,
      (pg_identify_object('pg_class'::regclass, tableoid, 0)).identity AS name`,

  done: `UPDATE ${marks} SET handled_at = clock_timestamp()
    WHERE payment_id = $1::text::uuid AND status = $2::text AND handled_at IS NULL RETURNING status`,

  again: `DELETE FROM ${marks} WHERE payment_id = $1::text::uuid AND status = $2::text AND handled_at IS NULL RETURNING status`,

  migrations: [
    `CREATE TABLE IF NOT EXISTS ${marks} (
      payment_id uuid NOT NULL,
      status text NOT NULL,
      final boolean NOT NULL,
      begun_at timestamptz NOT NULL DEFAULT now(),
      handled_at timestamptz,
      PRIMARY KEY (payment_id, status)
    )`,
  ],
});

/** @param marks the table with its schema: onPayment may have set another search path */
const endings = (marks: string) => ({
  /** Only in the transaction that began it. */
  complete: `UPDATE ${marks} SET handled_at = clock_timestamp()
    WHERE payment_id = $1::text::uuid AND status = $2::text AND handled_at IS NULL AND txid_current()::text = $3::text
    RETURNING status`,

  /** The transaction was rolled back, and what came after it was not. */
  keep: `INSERT INTO ${marks} (payment_id, status, final) VALUES ($1::text::uuid, $2::text, ${durably('$3::text::boolean')})
    ON CONFLICT DO NOTHING`,
});
