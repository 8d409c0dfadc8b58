// The statements over MySQL's table, and the form of their rows.
import { literals } from '../sql/answer.ts';
import type { SqlRow, SqlValue } from '../sql/database.ts';
import type { Statement, Table } from '../sql/dialect.ts';
import { unreadable } from '../sql/errors.ts';
import { asciiJson } from '../sql/table.ts';
import type { RowKey, RowKind, StoreRow } from '../store/contract.ts';

/** Text as hex, which no mode, collation or character set of the session changes. */
const hex = (value: string | undefined) => (value === undefined ? null : Buffer.from(value).toString('hex'));
const textOf = (hex: unknown) => Buffer.from(String(hex), 'hex').toString();
const json = (value: object | undefined) => hex(value && asciiJson(value));
const number = (value: number | undefined) => (value === undefined ? null : String(value));

/** In the session's time zone, an hour of autumn could come twice. */
const NOW = 'UTC_TIMESTAMP(3)';
const EPOCH = `TIMESTAMP('1970-01-01')`;
/** Milliseconds since 1970, as text. */
const ms = (moment: string) => `CAST(TIMESTAMPDIFF(MICROSECOND, ${EPOCH}, ${moment}) DIV 1000 AS CHAR)`;
const INTERVAL = 'INTERVAL CAST(? AS SIGNED) * 1000 MICROSECOND';
const MOMENT = `${EPOCH} + ${INTERVAL}`;

/** Only MariaDB reports a connection that was released within a transaction. */
export const IS_COMMITTED = '@@session.autocommit /*M! AND NOT @@session.in_transaction */';
/** Names of one word in lower case, because plugins of query builders rename others. */
const ANSWER = `${ms(NOW)} AS clock, IF(${IS_COMMITTED}, '0', '1') AS open,
  IF(@@global.read_only OR @@global.innodb_read_only, '1', '0') AS replica,
  IF(@@global.innodb_flush_log_at_trx_commit = 1, '1', '0') AS durable,
  kind, HEX(id) AS id, state, CAST(revision AS CHAR) AS revision, ${ms('begun_at')} AS begun,
  ${ms('due_at')} AS due, ${ms('leased_until')} AS leased, HEX(payment_id) AS payment, data, about, writer`;

export function rowOf(line: SqlRow): StoreRow | undefined {
  const { kind, id, state, revision, begun, due, leased, payment, data, about } = line as Record<string, string | null>;
  // A payment's row is inserted before its effect, and counts from its first write.
  if (revision === null || revision === '0') return undefined;
  if (typeof revision !== 'string' || typeof data !== 'string') throw unreadable();
  return {
    ...{ kind: kind as RowKind, id: textOf(id), state: String(state), revision: Number(revision) },
    ...{ begunAt: Number(begun), data: JSON.parse(data) },
    ...(due !== null && { dueAt: Number(due) }),
    ...(leased !== null && { leasedUntil: Number(leased) }),
    ...(payment !== null && { paymentId: textOf(payment) }),
    ...(about !== null && { about: JSON.parse(String(about)) }),
  };
}

const AT = 'scope = UNHEX(?) AND kind = ? AND id = UNHEX(?)';

export function statementsOver(table: string, scope: string) {
  const at = ({ kind, id }: RowKey) => [hex(scope), kind, hex(id)];
  const select = (where: string, ...values: SqlValue[]): Statement => [
    `SELECT ${ANSWER} FROM (SELECT 1) AS always LEFT JOIN ${table} ON scope = UNHEX(?) AND ${where}`,
    [hex(scope), ...values],
  ];
  const ofTable: Pick<Table, 'read' | 'owner' | 'list' | 'due' | 'lease'> = {
    read: ({ kind, id }) => select('kind = ? AND id = UNHEX(?)', kind, hex(id)),
    owner: paymentId => select('payment_id = UNHEX(?)', hex(paymentId)),
    list: ({ kind, states }) => select(`kind = ? AND state IN (${literals(states)}) ORDER BY begun_at`, kind),
    due: (kind, state, olderThan, limit) => [
      `SELECT ${ANSWER} FROM ${table} FORCE INDEX (due)
        WHERE scope = UNHEX(?) AND kind = ? AND state = ${literals([state])} AND due_at <= ${NOW}
          AND (leased_until IS NULL OR leased_until <= ${NOW}) AND begun_at <= ${NOW} - ${INTERVAL}
        ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
      [hex(scope), kind, String(olderThan)],
    ],
    // Without the index, MySQL reads all of a small table, and waits for rows that others lock.
    lease: (kind, ids, until) => [
      `UPDATE ${table} FORCE INDEX (PRIMARY) SET revision = revision + 1, leased_until = ${MOMENT}
        WHERE scope = UNHEX(?) AND kind = ? AND id IN (${ids.map(() => 'UNHEX(?)').join(', ')})`,
      [String(until), hex(scope), kind, ...ids.map(hex)],
    ],
  };
  return {
    ...ofTable,
    lock: (key: RowKey): Statement => [`SELECT ${ANSWER} FROM ${table} WHERE ${AT} FOR UPDATE`, at(key)],
    /** @param writer identifies the write, because libraries differ in the number of changed rows */
    insert: (row: StoreRow, revision: number, writer: string | null, guard: string): Statement => [
      // Two plain INSERTs of a taken key deadlock, because each locks its row in shared mode.
      `INSERT INTO ${table} (scope, kind, id, state, revision, begun_at, due_at, leased_until, payment_id, data, about, writer)
        SELECT UNHEX(?), ?, UNHEX(?), ?, ${revision}, ${NOW}, IF(? IS NULL, NULL, ${NOW}), ${MOMENT}, UNHEX(?), UNHEX(?),
          UNHEX(?), ? FROM DUAL WHERE ${guard} ON DUPLICATE KEY UPDATE revision = ${table}.revision`,
      [...at(row), row.state, number(row.dueAt), ...restOf(row), writer],
    ],
    replace: (row: StoreRow, stored: number, writer: string, guard = 'true'): Statement => {
      const isFirst = row.revision === 0;
      return [
        `UPDATE ${table} SET state = ?, revision = ${row.revision + 1}, begun_at = ${isFirst ? NOW : MOMENT},
          due_at = ${isFirst ? `IF(? IS NULL, NULL, ${NOW})` : MOMENT}, leased_until = ${MOMENT},
          payment_id = UNHEX(?), data = UNHEX(?), about = UNHEX(?), writer = ?
          WHERE ${AT} AND revision = ${stored} AND ${guard}`,
        [row.state, ...(isFirst ? [] : [number(row.begunAt)]), number(row.dueAt), ...restOf(row), writer, ...at(row)],
      ];
    },
  };
}

const restOf = ({ leasedUntil, paymentId, data, about }: StoreRow) => [
  ...[number(leasedUntil), hex(paymentId), json(data), json(about)],
];
