// The SQL of an inbox in Postgres: an advisory lock for each payment, and ids that identify transactions.
import { ConfigurationError } from '../errors.ts';
import type { InboxEvent, Mark } from '../inbox/contract.ts';
import { ofMerchant } from '../inbox/thrown.ts';
import { leftOpen, outsideTransaction, sqlCodeOf, withoutColumns } from '../sql/database.ts';
import type { InboxSql } from '../sql/inbox.ts';
import { advised, ddlOf, durably, expectCommitted, lockKey, migrate, quoted } from './table.ts';

/** A mark's transaction and table. */
interface Begun {
  xid: string;
  /** The table with its schema: onPayment may set another search path. */
  name: string;
}

/** @param table its name, as the merchant wrote it */
export function inboxSql(table: string): InboxSql<true, Begun> {
  const sql = statements(quoted(table));
  return {
    migrate: database => migrate(database, table, sql.migrations),
    ddl: () => ddlOf(table, sql.migrations),
    advised,

    async open(query) {
      await query('SAVEPOINT payment_gateway_inbox').catch(refuseAutoCommit);
    },

    async lock(query, { paymentId }) {
      const [answer] = await query(LOCK, [lockKey(`${table} ${paymentId}`)]);
      if (answer?.isolation === undefined) throw withoutColumns();
      // The effect would also commit a transaction that other code began and did not end.
      if (answer.xid) throw leftOpen();
      // A snapshot older than the lock would not show the marks of the previous worker.
      if (answer.isolation !== 'read committed') throw new ConfigurationError(NOT_READ_COMMITTED);
      return answer.locked === 'true' ? true : undefined;
    },

    marks: async (query, { paymentId }) => (await query(sql.marks, [paymentId])).map(markOf),

    async begin(query, event) {
      const [begun] = await query(sql.begin, valuesOf(event));
      return begun as unknown as Begun;
    },

    async complete(query, { paymentId, status }, { xid, name }) {
      const completed = await query(endings(name).complete, [paymentId, status, xid]).catch(error => {
        throw ignoredError(error);
      });
      return completed.length > 0;
    },

    isEnded: query =>
      query('ROLLBACK TO SAVEPOINT payment_gateway_inbox').then(
        () => false,
        error => WITHOUT_SAVEPOINT.has(sqlCodeOf(error)),
      ),

    async find(query, { paymentId, status }, { name }) {
      const [found] = await query(endings(name).find, [paymentId, status]);
      // Inside a transaction, it would see its own mark before the commit.
      if (found?.xid) throw leftOpen();
      if (found) return found.begun === 'true' ? 'begun' : 'done';
      return undefined;
    },

    async keep(query, event, { name }) {
      const written = await query(endings(name).keep, valuesOf(event));
      if (written[0]) await expectCommitted(query, written, written[0].xid);
    },

    async resolve(query, paymentId, status, resolution) {
      const written = await query(resolution === 'done' ? sql.done : sql.again, [paymentId, status]);
      if (written[0]) await expectCommitted(query, written, written[0].xid);
      return written.length > 0;
    },
  };
}

const valuesOf = ({ paymentId, status, final }: InboxEvent) => [paymentId, status, String(final)];

/** Reads text only, because a merchant may have changed how the driver reads other types. */
function markOf(row: unknown): Mark {
  const { status, final, begun } = row as Record<'status' | 'final' | 'begun', string>;
  return { status, final: final === 'true', ...(begun === 'true' && { begun: true }) };
}

/** A transaction gets an id with its first write, so the inbox's own has none yet. */
const LOCK = `SELECT pg_try_advisory_xact_lock($1::text::bigint)::text AS locked, txid_current_if_assigned()::text AS xid,
  current_setting('transaction_isolation') AS isolation`;

const NOT_READ_COMMITTED =
  'transaction() of the SqlDatabase must begin at READ COMMITTED: a snapshot that is older than the lock of a payment does not show what the worker before has marked.';

/** Postgres's code for a statement that needs a transaction. */
const NO_TRANSACTION = '25P01';

function refuseAutoCommit(error: unknown): never {
  if (sqlCodeOf(error) !== NO_TRANSACTION) throw error;
  throw outsideTransaction();
}

/** Codes for a missing savepoint or transaction. In the inbox's own failed transaction, the savepoint still works. */
const WITHOUT_SAVEPOINT: ReadonlySet<unknown> = new Set(['3B001', NO_TRANSACTION]);

/** Postgres's code for every statement after a failed one. */
const IN_FAILED_TRANSACTION = '25P02';

function ignoredError(error: unknown): unknown {
  if (sqlCodeOf(error) !== IN_FAILED_TRANSACTION) return error;
  const message =
    'onPayment ignored an SQL error, so Postgres rolled back its transaction, and the status can run again. Let the error pass, or use SAVEPOINT for a part that may fail.';
  return ofMerchant(new Error(message, { cause: error }));
}

const statements = (marks: string) => ({
  marks: `SELECT status, final::text, (handled_at IS NULL)::text AS begun FROM ${marks}
    WHERE payment_id = $1::text::uuid`,

  begin: `INSERT INTO ${marks} (payment_id, status, final) VALUES ($1::text::uuid, $2::text, $3::text::boolean)
    RETURNING ${durably('txid_current()::text')} AS xid,
      (pg_identify_object('pg_class'::regclass, tableoid, 0)).identity AS name`,

  done: `UPDATE ${marks} SET handled_at = clock_timestamp()
    WHERE payment_id = $1::text::uuid AND status = $2::text AND handled_at IS NULL RETURNING txid_current()::text AS xid`,

  again: `DELETE FROM ${marks} WHERE payment_id = $1::text::uuid AND status = $2::text AND handled_at IS NULL
    RETURNING txid_current()::text AS xid`,

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

/** @param marks the table with its schema */
const endings = (marks: string) => ({
  /** Only in the transaction that wrote the mark as begun. */
  complete: `UPDATE ${marks} SET handled_at = clock_timestamp()
    WHERE payment_id = $1::text::uuid AND status = $2::text AND handled_at IS NULL AND txid_current()::text = $3::text
    RETURNING status`,

  find: `SELECT (handled_at IS NULL)::text AS begun, txid_current_if_assigned()::text AS xid FROM ${marks}
    WHERE payment_id = $1::text::uuid AND status = $2::text`,

  /** For a transaction that was rolled back before later statements were committed. */
  keep: `INSERT INTO ${marks} (payment_id, status, final) VALUES ($1::text::uuid, $2::text, ${durably('$3::text::boolean')})
    ON CONFLICT DO NOTHING RETURNING txid_current()::text AS xid`,
});
