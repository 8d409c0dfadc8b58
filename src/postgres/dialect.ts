// The store's SQL in Postgres: reads, and writes of one row.
import { literals, notWritten } from '../sql/answer.ts';
import { isCommitted } from '../sql/committed.ts';
import type { Dialect, Statement, Table } from '../sql/dialect.ts';
import { afterWrite, leftOpen, orTaken } from '../sql/errors.ts';
import type { RowKey } from '../store/contract.ts';
import { ANSWER, answerOf, DURABLE, json, moment, XID } from './answer.ts';
import { effectsOver } from './effect.ts';
import { migrationsOf, quoted } from './table.ts';

export function postgresDialect(name: string): Dialect {
  // The same with and without a schema.
  const channel = name.replace(/.*\./, '');
  return {
    channel,
    fullName: `(pg_identify_object('pg_class'::regclass, '${quoted(name)}'::regclass, 0)).identity`,
    migrations: migrationsOf(name),
    over: (table, scope) => tableOver(table, scope, channel),
  };
}

function tableOver(table: string, scope: string, channel: string): Table {
  const select = (where: string, ...values: string[]): Statement => [
    `SELECT ${ANSWER} FROM (SELECT 1) AS always LEFT JOIN ${table} AS stored ON scope = $1::text AND ${where}`,
    [scope, ...values],
  ];
  const read = ({ kind, id }: RowKey) => select('kind = $2::text AND id = $3::text', kind, id);
  return {
    answerOf,
    read,
    owner: paymentId => select('payment_id = $2::text', paymentId),
    list: ({ kind, states }) => select(`kind = $2::text AND state IN (${literals(states)}) ORDER BY begun_at`, kind),
    due: (kind, state, olderThan, limit) => [
      `SELECT ${ANSWER} FROM ${table} AS stored
        WHERE scope = $1::text AND kind = $2::text AND state = ${literals([state])} AND due_at <= statement_timestamp()
          AND (leased_until IS NULL OR leased_until <= statement_timestamp())
          AND begun_at <= statement_timestamp() - make_interval(secs => $3::text::double precision / 1000)
        ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
      [scope, kind, String(olderThan)],
    ],
    lease: (kind, ids, until) => [
      `UPDATE ${table} SET revision = revision + 1, leased_until = $1::text::timestamptz
        WHERE scope = $2::text AND kind = $3::text AND id IN (${ids.map((_, index) => `$${index + 4}::text`).join(', ')})`,
      [moment(until), scope, kind, ...ids],
    ],
    write: writeOver(table, scope, channel, read),
    ...effectsOver(table, scope, read),
  };
}

function writeOver(table: string, scope: string, channel: string, read: Table['read']): Table['write'] {
  /** $10 is the id of the merchant's transaction, if any. */
  const isIn = `($10::text IS NULL OR ${XID}::text = $10::text) AND ${DURABLE}`;
  const INSERT = `INSERT INTO ${table} AS stored
      (scope, kind, id, state, due_at, leased_until, payment_id, data, about, revision, begun_at)
    SELECT $1::text, $2::text, $3::text, $4::text, CASE WHEN $5::text IS NOT NULL THEN clock_timestamp() END,
      $6::text::timestamptz, $7::text, $8::text::json, $9::text::json, 1, clock_timestamp()
    WHERE ${isIn} ON CONFLICT (scope, kind, id) DO NOTHING RETURNING ${ANSWER}`;
  const REPLACE = `UPDATE ${table} AS stored SET state = $4::text,
      due_at = $5::text::timestamptz, leased_until = $6::text::timestamptz, payment_id = $7::text,
      data = $8::text::json, about = $9::text::json, revision = revision + 1, begun_at = $12::text::timestamptz
    WHERE scope = $1::text AND kind = $2::text AND id = $3::text AND revision = $11::text::integer AND ${isIn}
    RETURNING ${ANSWER}`;
  const NOTIFY = `, pg_notify('${channel}', '')::text AS notified`;

  return async (query, row, isAlone) => {
    const { kind, id, state, revision } = row;
    const values = [scope, kind, id, state, moment(row.dueAt), moment(row.leasedUntil), row.paymentId ?? null];
    // Alone, the write has another id than this statement.
    const [session] = isAlone ? [] : await query('SELECT txid_current()::text AS xid');
    values.push(json(row.data), json(row.about), isAlone ? null : String(session?.xid));
    if (revision > 0) values.push(String(revision), moment(row.begunAt));
    const end = !isAlone && kind === 'create' && state === 'planned' ? NOTIFY : '';
    const lines = await query((revision > 0 ? REPLACE : INSERT) + end, values).catch(orTaken);
    if (lines.length === 0) {
      const found = query(...read(row)).then(stored => answerOf(stored, isAlone));
      return notWritten(await found.catch(afterWrite), revision, isAlone);
    }
    const { row: written, now, xid } = answerOf(lines, false);
    // The request follows. Other code may have begun a transaction.
    if (isAlone && state === 'begun' && !isCommitted(lines)) {
      const [line] = await query('SELECT txid_status($1::text::bigint) AS status', [String(xid)]).catch(afterWrite);
      if (line?.status !== 'committed') throw leftOpen();
    }
    return { isWritten: true, row: written, now };
  };
}
