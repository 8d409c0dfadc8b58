// The form in which Postgres answers with rows.
import { checkSession } from '../sql/answer.ts';
import type { SqlRow } from '../sql/database.ts';
import { unreadable } from '../sql/errors.ts';
import { asciiJson } from '../sql/table.ts';
import type { StoreRow } from '../store/contract.ts';

/** The id of the transaction, which it gets with its first write. */
export const XID = 'txid_current_if_assigned()';

/** One column, because Postgres plans each column, and plugins of query builders rename them. */
export const ANSWER = `json_build_object('clock', clock_timestamp(),
  'replica', pg_is_in_recovery(), 'xid', ${XID}, 'row', row_to_json(stored))::text AS answer`;

/** `was` is the state before the last effect. */
export type Columns = Pick<StoreRow, 'kind' | 'id' | 'state' | 'revision' | 'data'> &
  Record<'due_at' | 'leased_until' | 'payment_id' | 'was' | 'writer', string | null> & {
    begun_at: string;
    about: object | null;
  };

export const rowOf = ({ kind, id, state, revision, data, about, ...row }: Columns): StoreRow => ({
  ...{ kind, id, state, revision, data, begunAt: Date.parse(row.begun_at) },
  ...(row.due_at && { dueAt: Date.parse(row.due_at) }),
  ...(row.leased_until && { leasedUntil: Date.parse(row.leased_until) }),
  ...(row.payment_id !== null && { paymentId: row.payment_id }),
  ...(about && { about }),
});

export function parsed<Read>(line: SqlRow | undefined): Read {
  if (typeof line?.answer !== 'string') throw unreadable();
  return JSON.parse(line.answer);
}

export function answerOf([line]: readonly SqlRow[], isAlone = true) {
  type Read = { clock: string; replica: boolean; xid: number | null; row: Columns | null };
  const { clock, replica, xid, row } = parsed<Read>(line);
  checkSession(replica, isAlone && xid !== null);
  return { now: Date.parse(clock), row: row ? rowOf(row) : undefined, writer: row?.writer, xid };
}

/** The year 9999: later times have another form in ISO 8601. */
const LATEST = 253_402_300_799_999;
export const moment = (ms: number | undefined) =>
  ms === undefined ? null : new Date(Math.min(ms, LATEST)).toISOString();
export const json = (value: object | undefined) => (value ? asciiJson(value) : null);

/** Always true. It makes COMMIT wait for the disk, also of a synchronous standby: a lost write could pay again. */
export const DURABLE = `CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
  THEN set_config('synchronous_commit', 'on', true) = 'on' ELSE true END`;
