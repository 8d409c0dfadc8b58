// The statements of a store in MySQL. Texts are passed as hex, and times as milliseconds.
import { LONGEST } from '../store/key.ts';
import { COMMITTED, IS_COMMITTED, MOMENT, ms, NOW, TABLE_OPTIONS, TEXT } from './table.ts';

export type Statements = ReturnType<typeof statements>;

/** @param table as SQL */
export function statements(table: string) {
  const clock = `${ms(NOW)} AS clock, CAST(@@global.innodb_flush_log_at_trx_commit AS CHAR) AS flush,
    ${COMMITTED},
    IF(@@global.read_only OR @@global.innodb_read_only, '1', '0') AS replica`;
  const columns = `kind, HEX(id) AS id, state, CAST(revision AS CHAR) AS revision, ${ms('begun_at')} AS begun,
    ${ms('due_at')} AS due, ${ms('leased_until')} AS leased, HEX(payment_id) AS payment, data, about, writer`;
  const key = `scope = ${TEXT} AND kind = ? AND id = ${TEXT}`;
  const insert = `INSERT INTO ${table}
    (scope, kind, id, state, due_at, leased_until, payment_id, data, about, writer, revision, begun_at)`;
  const dueNow = `IF(? IS NULL, NULL, ${NOW})`;
  const inserted = `${TEXT}, ?, ${TEXT}, ?, ${dueNow}, ${MOMENT}, ${TEXT}, ${TEXT}, ${TEXT}, ?, CAST(? AS UNSIGNED), ${NOW}`;
  const replaceBy = (begun: string, due: string) => `UPDATE ${table} SET state = ?, revision = CAST(? AS UNSIGNED),
    begun_at = ${begun}, due_at = ${due}, leased_until = ${MOMENT}, payment_id = ${TEXT},
    data = ${TEXT}, about = ${TEXT}
    WHERE ${key} AND revision = CAST(? AS UNSIGNED)`;
  const [replaceIn, replaceNew] = [replaceBy(MOMENT, MOMENT), replaceBy(NOW, dueNow)];
  const mark = `UPDATE ${table} SET state = 'begun', revision = revision + 1, about = ${TEXT}, writer = ?
    WHERE ${key}`;
  const select = `SELECT ${ms(NOW)} AS clock, ${columns} FROM ${table} WHERE ${key} FOR UPDATE`;

  return {
    clock: `SELECT ${clock}`,
    read: `SELECT ${clock}, ${columns} FROM ${table} WHERE ${key}`,
    owner: `SELECT ${clock}, ${columns} FROM ${table} WHERE scope = ${TEXT} AND payment_id = ${TEXT}`,
    insert: `${insert} SELECT ${inserted} FROM DUAL WHERE ${IS_COMMITTED}`,
    replace: `${replaceIn} AND ${IS_COMMITTED}`,
    list: (states: number) => `SELECT ${clock}, ${columns} FROM ${table}
      WHERE scope = ${TEXT} AND kind = ? AND state IN (${Array(states).fill('?').join(', ')}) ORDER BY begun_at`,

    due: (limit: number) => `SELECT ${columns} FROM ${table} FORCE INDEX (due)
      WHERE kind = ? AND state = ? AND scope = ${TEXT} AND due_at <= ${NOW}
        AND (leased_until IS NULL OR leased_until <= ${NOW})
        AND begun_at <= ${NOW} - INTERVAL CAST(? AS SIGNED) * 1000 MICROSECOND
      ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
    // Without the index, MySQL would read all of a small table, and wait for rows that other callers lock.
    lease: (count: number) => `UPDATE ${table} FORCE INDEX (PRIMARY)
      SET revision = revision + 1, leased_until = ${MOMENT}
      WHERE ${Array(count).fill(`(${key})`).join(' OR ')}`,

    // In the merchant's transaction. A plain INSERT of a taken key would lock its row in shared mode: two deadlock.
    plan: `${insert} VALUES (${inserted}) ON DUPLICATE KEY UPDATE revision = ${table}.revision`,
    replaceIn,
    /** One row after the other by its whole key, because a range would lock other rows. */
    lock: (count: number) => (count === 1 ? select : Array(count).fill(`(${select})`).join(' UNION ALL ')),

    // The effect of a payment.
    exists: `SELECT ${COMMITTED}, CAST(EXISTS (SELECT 1 FROM ${table} WHERE ${key}) AS CHAR) AS found`,
    lockFree: `${select} SKIP LOCKED`,
    begin: mark,
    insertIn: `${insert} VALUES (${inserted})`,
    replaceNew,
    markUncertain: `${mark} AND state <> 'begun' AND ${IS_COMMITTED}`,

    // Never change a published migration: add another.
    migrations: [
      `CREATE TABLE IF NOT EXISTS ${table} (
  scope varbinary(${LONGEST.scope}) NOT NULL,
  kind varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id varbinary(${LONGEST.reference}) NOT NULL,
  state varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  revision int NOT NULL,
  begun_at datetime(3) NOT NULL,
  due_at datetime(3),
  leased_until datetime(3),
  payment_id varbinary(64),
  data longtext CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  about longtext CHARACTER SET ascii COLLATE ascii_bin,
  writer char(36) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (scope, kind, id),
  UNIQUE KEY payment (scope, payment_id),
  KEY due (kind, state, scope, due_at)
) ${TABLE_OPTIONS}`,
    ],
  };
}
