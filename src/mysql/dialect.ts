// The store's SQL in MySQL: reads, and writes of one row.
import { randomUUID } from 'node:crypto';
import { checkSession, newPayment, notWritten, ofPayment } from '../sql/answer.ts';
import type { SqlQuery } from '../sql/database.ts';
import type { Dialect, Table } from '../sql/dialect.ts';
import { afterWrite, noTransaction, orTaken, paymentTaken, unreadable } from '../sql/errors.ts';
import { emitWarning } from '../telemetry/events.ts';
import { effectsOver, isRefused } from './effect.ts';
import { IS_COMMITTED, rowOf, statementsOver } from './statements.ts';
import { migrationsOf, quoted } from './table.ts';

export function mysqlDialect(name: string): Dialect {
  return {
    // With its database, because an effect may USE another.
    fullName: name.includes('.')
      ? `'${quoted(name)}'`
      : `CONCAT(COALESCE(CONCAT('\`', REPLACE(DATABASE(), '\`', '\`\`'), '\`.'), ''), '${quoted(name)}')`,
    migrations: migrationsOf(name),
    over: tableOver,
  };
}

function tableOver(table: string, scope: string): Table {
  let isWarned = false;
  const answerOf: Table['answerOf'] = ([line = {}], isAlone = true) => {
    const { clock, replica, open, durable, writer } = line;
    // Without a time, a lease would be endless.
    if (typeof clock !== 'string') throw unreadable();
    if (durable === '0' && !isWarned) emitWarning(NOT_DURABLE);
    isWarned ||= durable === '0';
    checkSession(replica === '1', isAlone && open === '1');
    return { now: Number(clock), row: rowOf(line), writer };
  };
  const statements = statementsOver(table, scope);
  const { read, insert, replace } = statements;
  /** Inserts the payment's row, because workers wait for an uncommitted one instead of skipping it. */
  const prepare = async (query: SqlQuery, paymentId: string) => {
    const lines = await query(...read(ofPayment(paymentId)));
    answerOf(lines);
    if (lines[0]?.revision === null) await query(...insert(newPayment(paymentId), 0, null, IS_COMMITTED));
  };
  /** Reads the row again, because MySQL returns nothing of a write. */
  const write: Table['write'] = async (query, row, isAlone) => {
    if (!isAlone && !(await isOpen(query))) throw noTransaction();
    const isPrepared = isAlone && row.kind === 'payment' && row.revision === 0;
    if (isPrepared) await prepare(query, row.id);
    const guard = isAlone ? IS_COMMITTED : 'true';
    const own = randomUUID();
    const isNew = row.revision === 0 && !isPrepared;
    const statement = isNew ? insert(row, 1, own, guard) : replace(row, row.revision, own, guard);
    await query(...statement).catch(orTaken);
    const [text, values] = read(row);
    // A locking read ignores the snapshot of the merchant's transaction.
    const stored = await query(isAlone ? text : `${text} FOR UPDATE`, values)
      .then(lines => answerOf(lines, isAlone))
      .catch(afterWrite);
    if (stored.writer === own) return { isWritten: true, row: stored.row, now: stored.now };
    if (!stored.row && row.revision === 0 && row.paymentId !== undefined) throw paymentTaken();
    return notWritten(stored, row.revision, isAlone);
  };
  return { answerOf, ...statements, prepare, write, ...effectsOver(statements, write) };
}

/** In a transaction, MySQL refuses the statement. Outside one, it sets the default again for the next. */
const isOpen = (query: SqlQuery) => isRefused(query, 'SET TRANSACTION READ WRITE', '1568');

const NOT_DURABLE =
  'mysqlStore: innodb_flush_log_at_trx_commit is not 1 on this server. If it crashes, it may lose the creates of the last second, and a retry would pay them again. Set it to 1, and sync_binlog to 1 if replicas are promoted.';
