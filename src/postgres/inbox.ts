// An inbox in the merchant's own Postgres: the effect of a callback and its mark commit together, or not at all.
import { type Inbox, isDone, type Mark } from '../inbox/contract.ts';
import { storeOptions } from '../schemas/store-options.ts';
import {
  type ClientOf,
  checkPool,
  clientRunner,
  commit,
  lockKey,
  migrate,
  type PgClient,
  type PgPool,
  quoted,
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
}

/**
 * Exactly once, if `onPayment` writes only with `tx`: its writes and the mark are one transaction. One worker per payment
 * is let in, by an advisory lock; at most half of the pool is held.
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
  const marks = quoted(table);
  const withClient = clientRunner(pool);
  return {
    migrate: () => migrate(pool, table, inboxDdl(marks)),

    run(event, work) {
      const { paymentId, status, final } = event;
      return withClient(async client => {
        // A snapshot older than the lock would not show the marks of the worker before.
        await client.query('BEGIN ISOLATION LEVEL READ COMMITTED; SAVEPOINT payment_gateway_inbox');
        if (!(await tryLock(client, `${table} ${paymentId}`))) return end(client, 'busy');
        const { rows } = await client.query(`SELECT status, final FROM ${marks} WHERE payment_id = $1`, [paymentId]);
        if (isDone(rows as Mark[], event)) return end(client, 'already');
        await work({ tx: client as ClientOf<Pool> });
        await ensureIntact(client);
        await client.query(`INSERT INTO ${marks} (payment_id, status, final) VALUES ($1, $2, $3)`, [
          paymentId,
          status,
          final,
        ]);
        await commit(client);
        return 'ran';
      });
    },
  };
}

const inboxDdl = (marks: string) => `
  CREATE TABLE IF NOT EXISTS ${marks} (
    payment_id uuid NOT NULL,
    status text NOT NULL,
    final boolean NOT NULL,
    handled_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (payment_id, status)
  )`;

async function tryLock(client: PgClient, name: string): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1::bigint) AS locked', [lockKey(name)]);
  return (rows as { locked: boolean }[])[0]?.locked === true;
}

async function end<R>(client: PgClient, result: R): Promise<R> {
  await client.query('ROLLBACK');
  return result;
}

/** The mark must not outlive the effect: onPayment may have ended the transaction, or ignored an error within it. */
async function ensureIntact(client: PgClient): Promise<void> {
  await client.query('RELEASE SAVEPOINT payment_gateway_inbox').catch(cause => {
    const message =
      'onPayment ignored an SQL error, or ended the transaction itself, so its status is not marked and will run again. Let errors pass, and leave BEGIN, COMMIT and ROLLBACK to the inbox.';
    throw new Error(message, { cause });
  });
}
