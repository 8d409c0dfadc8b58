// An inbox in the merchant's own Postgres: the effect of a callback and its mark commit together, or not at all.
import { delay } from '../deadline.ts';
import { InvalidRequestError } from '../errors.ts';
import { decide, type Inbox, type InboxEvent, type InboxResult, LOCK_PAUSES, type Mark } from '../inbox/contract.ts';
import { storeOptions } from '../schemas/store-options.ts';
import { lend } from './lent-client.ts';
import {
  type ClientOf,
  checkPool,
  clientRunner,
  commit,
  ddlOf,
  durably,
  lockKey,
  migrate,
  type PgClient,
  type PgPool,
  quoted,
  repeated,
  tableNameProblem,
} from './pool.ts';

/** What a `postgresInbox` can take as its second argument. */
export interface PostgresInboxOptions {
  /**
   * The table of marks, or schema.table.
   * @default 'payment_gateway_inbox'
   */
  table?: string | undefined;
}

/** An inbox that hands its transaction to `onPayment`, and can create its table. */
export interface PostgresInbox<Client> extends Inbox<{ tx: Client }> {
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
 * @param pool the merchant's own `pg` pool, of two clients or more
 * @throws {ConfigurationError} for a pool that is too small, or a table name that is none
 * @example
 * const inbox = postgresInbox(pool);
 * await inbox.migrate();
 * const handler = createWebhookHandler({
 *   gateway, inbox,
 *   onPayment: (payment, { tx }) => tx.query('update orders set paid = true where id = $1', [payment.reference]),
 * });
 */
export function postgresInbox<Pool extends PgPool>(
  pool: Pool,
  options: PostgresInboxOptions = {},
): PostgresInbox<ClientOf<Pool>> {
  const { table = 'payment_gateway_inbox' } = storeOptions('postgresInbox', options, { table: tableNameProblem });
  checkPool('postgresInbox', pool);
  const sql = statements(quoted(table));
  const withClient = clientRunner<ClientOf<Pool>>(pool);

  return {
    migrate: () => migrate(pool, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),

    run: (event, work) =>
      repeated(() =>
        withClient(({ client, query }) =>
          takeEffect(query, sql, lockKey(`${table} ${event.paymentId}`), event, () =>
            lend(client, tx => work({ tx: tx })),
          ),
        ),
      ),

    async resolve(paymentId, status, resolution) {
      if (resolution !== 'done' && resolution !== 'again') {
        throw new InvalidRequestError([{ path: 'resolution', message: "must be 'done' or 'again'" }]);
      }
      const { rows } = await pool.query(resolution === 'done' ? sql.done : sql.again, [paymentId, status]);
      if (rows.length > 0) return;
      const message = `${status} of this payment is not in doubt: it has no mark that was begun and not finished`;
      throw new InvalidRequestError([{ path: 'status', message }]);
    },
  };
}

type Query = PgClient['query'];

/**
 * One transaction: lock, marks, the mark as begun, the work, the mark as done.
 *
 * @param work answers the first SQL error that it met
 */
async function takeEffect(
  query: Query,
  sql: ReturnType<typeof statements>,
  key: string,
  event: InboxEvent,
  work: () => Promise<unknown>,
): Promise<InboxResult | readonly Mark[]> {
  const { paymentId, status, final } = event;
  // A snapshot older than the lock would not show the marks of the worker before.
  await query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SAVEPOINT payment_gateway_inbox');
  if (!(await lock(query, key))) return rolledBack(query, 'busy');
  const { rows } = await query(sql.marks, [paymentId]);
  const decision = decide(rows.map(markOf), event);
  if (decision !== 'run') return rolledBack(query, decision);

  // First of all: whatever commits the effect commits the mark with it.
  const { rows: begun } = await query(sql.begin, [paymentId, status, final]);
  const { xid, name } = begun[0] as { xid: string; name: string };
  const { complete, keep } = endings(name);
  /** What was written after the end of the transaction is committed, and perhaps the mark is not. */
  const keepBegun = async (cause?: unknown) => {
    await query('ROLLBACK');
    await query(keep, [paymentId, status, final]);
    return endedBefore(cause);
  };
  let isComplete: boolean;
  try {
    const firstError = await work();
    const { rows } = await query(complete, [paymentId, status, xid]).catch(error => {
      throw ignoredError(error, firstError);
    });
    isComplete = rows.length > 0;
  } catch (error) {
    throw (await isEnded(query)) ? await keepBegun(error) : error;
  }
  if (!isComplete) throw await keepBegun();
  await commit(query);
  return 'ran';
}

/** All of it is text, because a merchant may have taught the driver other ways of reading. */
function markOf(row: unknown): Mark {
  const { status, final, begun } = row as Record<'status' | 'final' | 'begun', string>;
  return { status, final: final === 'true', ...(begun === 'true' && { begun: true }) };
}

/** A worker of another process may have the payment: it is waited for, for a moment. */
async function lock(query: Query, key: string): Promise<boolean> {
  for (const pause of [...LOCK_PAUSES, undefined]) {
    const { rows } = await query('SELECT pg_try_advisory_xact_lock($1::bigint)::text AS locked', [key]);
    if ((rows as { locked: string }[])[0]?.locked === 'true') return true;
    if (pause !== undefined) await delay(pause);
  }
  return false;
}

async function rolledBack<R>(query: Query, result: R): Promise<R> {
  await query('ROLLBACK');
  return result;
}

/** No savepoint of that name, or no transaction: in a failed one that is still ours, the savepoint works. */
const WITHOUT_SAVEPOINT: ReadonlySet<unknown> = new Set(['3B001', '25P01']);

/** Whether something other than the inbox has ended its transaction. */
const isEnded = (query: Query): Promise<boolean> =>
  query('ROLLBACK TO SAVEPOINT payment_gateway_inbox').then(
    () => false,
    error => WITHOUT_SAVEPOINT.has((error as { code?: unknown }).code),
  );

/** What Postgres answers every statement after one that failed. */
const IN_FAILED_TRANSACTION = '25P02';

function ignoredError(error: unknown, firstError: unknown): unknown {
  if ((error as { code?: unknown }).code !== IN_FAILED_TRANSACTION) return error;
  const message =
    'onPayment ignored an SQL error, so nothing was committed, and the status is not marked. Let the error pass, or use SAVEPOINT for a part that may fail.';
  return new Error(message, { cause: firstError ?? error });
}

const endedBefore = (cause: unknown) =>
  new Error(
    'Something other than the inbox ended the transaction of onPayment, so nobody knows how much of it was done: the status is not run again until you call inbox.resolve. Leave BEGIN, COMMIT and ROLLBACK to the inbox.',
    cause === undefined ? undefined : { cause },
  );

const statements = (marks: string) => ({
  marks: `SELECT status, final::text, (handled_at IS NULL)::text AS begun FROM ${marks} WHERE payment_id = $1`,

  begin: `INSERT INTO ${marks} (payment_id, status, final) VALUES ($1, $2, $3)
    RETURNING ${durably('txid_current()::text')} AS xid,
      (pg_identify_object('pg_class'::regclass, tableoid, 0)).identity AS name`,

  done: `UPDATE ${marks} SET handled_at = clock_timestamp()
    WHERE payment_id = $1 AND status = $2 AND handled_at IS NULL RETURNING status`,

  again: `DELETE FROM ${marks} WHERE payment_id = $1 AND status = $2 AND handled_at IS NULL RETURNING status`,

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
    WHERE payment_id = $1 AND status = $2 AND handled_at IS NULL AND txid_current()::text = $3 RETURNING status`,

  /** The transaction was rolled back, and what came after it was not. */
  keep: `INSERT INTO ${marks} (payment_id, status, final) VALUES ($1, $2, ${durably('$3::boolean')}) ON CONFLICT DO NOTHING`,
});
