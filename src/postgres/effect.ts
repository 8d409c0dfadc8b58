// The transaction of an effect in Postgres. Its id identifies the effect.
import { ofPayment } from '../sql/answer.ts';
import type { Effects, Table } from '../sql/dialect.ts';
import { leftOpen, orTaken, rowChanged } from '../sql/errors.ts';
import type { RowKey, StoreRow } from '../store/contract.ts';
import { answerOf, type Columns, DURABLE, json, moment, parsed, rowOf, XID } from './answer.ts';
import { lockKey } from './table.ts';

export function effectsOver(table: string, scope: string, read: Table['read']): Effects {
  /** Needs no read, because ON CONFLICT sees the newest committed row. It gives the transaction its id. */
  const beginWith = (reads: readonly RowKey[]) => `INSERT INTO ${table} AS stored
      (scope, kind, id, state, revision, begun_at, data, about, writer)
    SELECT $1::text, 'payment', $3::text, 'begun', 1, clock_timestamp(), '{}'::json, $4::text::json,
      txid_current()::text
    WHERE CASE WHEN ${XID} IS NULL THEN pg_try_advisory_xact_lock($2::text::bigint) END AND ${DURABLE}
    ON CONFLICT (scope, kind, id) DO UPDATE SET state = 'begun', was = stored.state, revision = stored.revision + 1,
      about = excluded.about, writer = excluded.writer WHERE stored.state <> 'begun'
    RETURNING json_build_object('mark', row_to_json(stored), 'others', ARRAY(
      SELECT row_to_json(other) FROM ${table} AS other
      WHERE scope = $1::text AND (${reads.map(isRead).join(' OR ') || 'false'})
      ORDER BY kind, id FOR UPDATE))::text AS answer`;

  /** The mark has its revision already. The other rows are locked, new, or deleted and written again. */
  const COMPLETE = `INSERT INTO ${table} AS stored
      (scope, kind, id, revision, state, begun_at, due_at, leased_until, payment_id, data, about)
    SELECT $1::text, kind, id, revision, state, COALESCE(begun_at, clock_timestamp()),
      CASE WHEN begun_at IS NULL AND due_at IS NOT NULL THEN clock_timestamp() ELSE due_at END,
      leased_until, payment_id, data::json, about::json
    FROM json_to_recordset($2::text::json) AS next (kind text, id text, revision integer, state text,
      begun_at timestamptz, due_at timestamptz, leased_until timestamptz, payment_id text, data text, about text)
    WHERE ${XID}::text = $3::text
    ON CONFLICT (scope, kind, id) DO UPDATE SET revision = excluded.revision, state = excluded.state,
      begun_at = excluded.begun_at, due_at = excluded.due_at, leased_until = excluded.leased_until,
      payment_id = excluded.payment_id, data = excluded.data, about = excluded.about
    WHERE stored.revision = excluded.revision - 1 OR stored.writer = $3::text
    RETURNING '1' AS one`;

  return {
    async begin(query, { id, about, reads }) {
      const keys = reads.flatMap(read => [read.kind, read.id]);
      const values = [scope, lockKey(`${table} ${scope} ${id}`), id, json(about), ...keys];
      const [line] = await query(beginWith(reads), values);
      if (!line) {
        const { row, xid } = answerOf(await query(...read(ofPayment(id))), false);
        if (row?.state === 'begun') return 'uncertain';
        // The effect would commit a transaction that other code left open.
        if (xid !== null) throw leftOpen();
        return 'busy';
      }
      const { mark, others } = parsed<{ mark: Columns; others: Columns[] }>(line);
      const { about: _, ...payment } = rowOf(mark);
      return {
        ...{ id, writer: String(mark.writer), rows: others.map(rowOf) },
        payment: mark.was === null ? undefined : { ...payment, state: mark.was, revision: payment.revision - 1 },
      };
    },
    async complete(query, { writer }, rows) {
      const { length } = await query(COMPLETE, [scope, JSON.stringify(rows.map(lineOf)), writer]).catch(orTaken);
      if (length > 0 && length < rows.length) throw rowChanged();
      return length > 0;
    },
    // Every statement fails in the effect's own failed transaction.
    async isEnded(query, { writer }) {
      const [line] = await query(`SELECT ${XID}::text AS xid`).catch(() => [{ xid: writer }]);
      return line?.xid !== writer;
    },
  };
}

const isRead = (_: RowKey, at: number) => `(kind, id) = ($${2 * at + 5}::text, $${2 * at + 6}::text)`;

const lineOf = ({ kind, id, revision, state, begunAt, ...row }: StoreRow) => ({
  ...{ kind, id: id.toWellFormed(), revision: revision + 1, state, payment_id: row.paymentId },
  ...{ begun_at: revision === 0 ? null : moment(begunAt), due_at: moment(row.dueAt) },
  ...{ leased_until: moment(row.leasedUntil), data: json(row.data), about: json(row.about) },
});
