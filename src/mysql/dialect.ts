// The store's SQL in MySQL. A payment is a locked row, and a savepoint identifies the transaction of an effect.
import { randomUUID } from 'node:crypto';
import { hasChanged, type SqlQuery, type SqlValue } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { sqlCodeOf } from '../sql/errors.ts';
import { bind, join, sql } from '../sql/sql.ts';
import { isAt, ofPayment, rowOf } from '../sql/statements.ts';
import { asciiJson } from '../sql/table.ts';
import type { StoreRow } from '../store/contract.ts';
import { migrationsOf, quoted } from './table.ts';

const word = (value: SqlValue = null) => bind(value);
/** Passes a text as hex, so that no mode, collation or character set of the session changes it. */
const text = (value: string | undefined) =>
  bind(value === undefined ? null : Buffer.from(value).toString('hex'), place => `UNHEX(${place})`);
const textOf = (hex: string) => Buffer.from(hex, 'hex').toString();
const json = (value: object | undefined) => text(value && asciiJson(value));

/** Now in UTC, independent of the session's time zone, in which an hour of autumn comes twice. */
const NOW = 'UTC_TIMESTAMP(3)';
const EPOCH = `TIMESTAMP('1970-01-01')`;
/** Milliseconds since 1970, as text. */
const ms = (moment: string) => `CAST(TIMESTAMPDIFF(MICROSECOND, ${EPOCH}, ${moment}) DIV 1000 AS CHAR)`;
const interval = (ms: number | undefined) =>
  sql`INTERVAL CAST(${word(ms === undefined ? null : String(ms))} AS SIGNED) * 1000 MICROSECOND`;

/** Only MariaDB reports a connection that was released to the pool within a transaction. */
const IS_COMMITTED = '@@session.autocommit /*M! AND NOT @@session.in_transaction */';
const CHECKS = `${ms(NOW)} AS clock, IF(${IS_COMMITTED}, '0', '1') AS open,
  IF(@@global.read_only OR @@global.innodb_read_only, '1', '0') AS replica,
  IF(@@global.innodb_flush_log_at_trx_commit = 1, '1', '0') AS durable`;
const COLUMNS = `kind, HEX(id) AS id, state, CAST(revision AS CHAR) AS revision, ${ms('begun_at')} AS begun,
  ${ms('due_at')} AS due, ${ms('leased_until')} AS leased, HEX(payment_id) AS payment, data, about, writer`;

const SAVEPOINT = 'payment_gateway_effect';
const send: Dialect['send'] = (query, { text, values }) => query(text.replaceAll('\0', '?'), values);

/** @param table the merchant's spelling */
export function mysqlDialect(table: string): Dialect {
  return {
    send,
    // With its database, because an effect may USE another one.
    fullName: table.includes('.')
      ? `'${quoted(table)}'`
      : `CONCAT(COALESCE(CONCAT('\`', REPLACE(DATABASE(), '\`', '\`\`'), '\`.'), ''), '${quoted(table)}')`,
    migrations: migrationsOf(table),

    word,
    text,
    integer: value => sql`CAST(${word(String(value))} AS UNSIGNED)`,
    json,
    moment: ms => sql`${EPOCH} + ${interval(ms)}`,
    ago: ms => sql`${NOW} - ${interval(ms)}`,
    now: NOW,
    checks: CHECKS,
    columns: COLUMNS,
    textOf,
    indexed: name => `FORCE INDEX (${name})`,
    fromNothing: 'FROM DUAL',
    // A plain INSERT of a taken key would lock its row in shared mode: two deadlock.
    orKeep: table => `ON DUPLICATE KEY UPDATE revision = ${table}.revision`,
    returning: '',
    returningIn: '',
    // A locking read ignores an older snapshot.
    lock: 'FOR UPDATE',

    alone: sql`${IS_COMMITTED}`,
    expectCommitted: async () => {},
    enter: async query => ((await isOpen(query)) ? sql`true` : undefined),

    isPrepared: true,
    begin,
    prove: async query => ((await hasSavepoint(query, `RELEASE SAVEPOINT ${SAVEPOINT}`)) ? sql`true` : undefined),
    async writeAll(query, statements) {
      const areWritten: boolean[] = [];
      for (const statement of statements) areWritten.push(hasChanged(await send(query, statement)));
      return areWritten;
    },
    async isEnded(query) {
      const [last] = await query('SHOW ERRORS').catch(() => []);
      const isOurs = await hasSavepoint(query, `ROLLBACK TO SAVEPOINT ${SAVEPOINT}`).catch(refusedByPrisma);
      return !isOurs && !UNDOES.has(String(last?.Code));
    },
  };
}

const begin: Dialect['begin'] = async (query, { table, at }, { id, about, reads }) => {
  const run = (statement: ReturnType<typeof sql>) => send(query, statement);
  const locked = (key: Parameters<typeof at>[0], end = '') =>
    sql`SELECT ${COLUMNS} FROM ${table} WHERE ${at(key)} FOR UPDATE ${end}`;
  const key = ofPayment(id);
  const [line] = await run(locked(key, 'SKIP LOCKED'));
  if (!line) return 'busy';
  const payment = rowOf(line, textOf);
  if (payment.state === 'begun') return 'uncertain';
  await query(`SAVEPOINT ${SAVEPOINT}`);
  const writer = randomUUID();
  await run(sql`UPDATE ${table} SET state = 'begun', revision = revision + 1, about = ${json(about)}, writer = ${word(writer)}
    WHERE ${at(key)}`);
  const nameOf = ({ kind, id }: typeof key) => `${kind} ${id}`;
  const inOrder = [...reads].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  /** One row after the other by its whole key, because a range would lock other rows. */
  const all = join(
    inOrder.map(read => sql`(${locked(read)})`),
    ' UNION ALL ',
  );
  const rows = reads.length === 0 ? [] : (await run(all)).map(each => rowOf(each, textOf));
  const written = (row: StoreRow | undefined) => (row?.revision === 0 ? undefined : row);
  return {
    begun: { id, writer, revision: payment.revision + 1 },
    payment: written(payment),
    rows: reads.map(read => written(rows.find(row => isAt(row, read)))),
  };
};

/** MySQL's code for a missing savepoint. */
const WITHOUT_SAVEPOINT = '1305';
/** Runs a statement about a savepoint. @returns whether the savepoint exists: it ends with its transaction */
const hasSavepoint = (query: SqlQuery, statement: string): Promise<boolean> =>
  query(statement).then(
    () => true,
    error => {
      if (sqlCodeOf(error) !== WITHOUT_SAVEPOINT) throw error;
      return false;
    },
  );

/** MySQL's code for a characteristic of the next transaction that is set in the middle of one. */
const IN_TRANSACTION = '1568';
/** Checks whether a transaction is open. Outside one, the statement sets the default of the next transaction again. */
const isOpen = (query: SqlQuery): Promise<boolean> =>
  query('SET TRANSACTION READ WRITE').then(
    () => false,
    error => {
      if (sqlCodeOf(error) !== IN_TRANSACTION) throw error;
      return true;
    },
  );

/**
 * Errors with which MySQL undoes the whole transaction: a deadlock, its equivalents on a cluster, and a full lock
 * table. Each later statement would be committed by itself, so the effect may run again only if the last statement got
 * the error.
 */
const UNDOES: ReadonlySet<string> = new Set(['1213', '3101', '1020', '1206']);

/** Prisma stops sending queries once a nested transaction failed to end, as after a deadlock. */
function refusedByPrisma(error: unknown): false {
  if (sqlCodeOf(error) === 'P2028') return false;
  throw error;
}
