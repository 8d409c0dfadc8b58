// The SQL of a store in MySQL: each write is followed by a read, because it returns no rows.
import { randomUUID } from 'node:crypto';
import { type SqlQuery, type SqlRow, withoutColumns } from '../sql/database.ts';
import type { StoreSql } from '../sql/store.ts';
import { afterWrite, type ReadStoreOptions } from '../sql/store.ts';
import { PaymentTaken, type RowKey, type StoreRow, type Written } from '../store/contract.ts';
import { emitWarning } from '../telemetry/events.ts';
import { effectSql, type MysqlBegun } from './effect-sql.ts';
import { clockOf, rowIn, rowsIn, valuesIn } from './lines.ts';
import { type Statements, statements } from './statements.ts';
import {
  advised,
  checkCommitted,
  ddlOf,
  hasChanged,
  hex,
  insertedAlone,
  isOpen,
  migrate,
  notCommitted,
  paymentTaken,
  quoted,
  quotedPart,
} from './table.ts';

/** @param options `table` is its name as the merchant wrote it */
export function mysqlStoreSql({ table, scope }: Pick<ReadStoreOptions, 'table' | 'scope'>): StoreSql<MysqlBegun> {
  const { migrations } = statements(quoted(table));
  const values = valuesIn(scope);
  const { inScope, keyOf, inserted, replaced } = values;
  let resolved: Statements | undefined;
  /** Names the table with its database, because onPayment may USE another one. */
  const resolve = async (query: SqlQuery): Promise<Statements> => {
    if (table.includes('.')) return statements(quoted(table));
    const [line] = await query('SELECT DATABASE() AS name');
    if (line?.name === undefined) throw withoutColumns();
    return statements(line.name === null ? quoted(table) : `${quotedPart(line.name)}.${quoted(table)}`);
  };
  const named = async (query: SqlQuery): Promise<Statements> => {
    resolved ??= await resolve(query);
    return resolved;
  };

  let isChecked = false;
  /** Checks the session of a statement outside the merchant's transactions, and returns its time. */
  const check = (line: SqlRow): number => {
    const now = clockOf(line);
    checkCommitted(line);
    if (line.replica === '1') throw new Error('The store was read from a replica: it needs the primary.');
    if (!isChecked && line.flush !== '1') emitWarning(NOT_DURABLE);
    isChecked = true;
    return now;
  };
  const clock = async (query: SqlQuery, sql: Statements) => check((await query(sql.clock))[0] ?? {});
  const oneOf = async (query: SqlQuery, sql: Statements, [line]: readonly SqlRow[]) => ({
    row: rowIn(line),
    now: line ? check(line) : await clock(query, sql),
  });
  const read = async (query: SqlQuery, key: RowKey) => {
    const sql = await named(query);
    return oneOf(query, sql, await query(sql.read, keyOf(key)));
  };

  const replace = async (query: SqlQuery, sql: Statements, row: StoreRow): Promise<Written> => {
    const isWritten = hasChanged(await query(sql.replace, replaced(row)).catch(paymentTaken));
    if (isWritten) return { isWritten, row: nextOf(row), now: await clock(query, sql).catch(afterWrite) };
    const { row: found, now } = await read(query, row);
    if (found?.revision === row.revision) throw notCommitted();
    return { isWritten, row: found, now };
  };
  const insert = async (query: SqlQuery, sql: Statements, row: StoreRow): Promise<Written> => {
    if (await insertedAlone(query, sql.insert, inserted(row, 1, null))) {
      return { isWritten: true, ...(await read(query, row).catch(afterWrite)) };
    }
    const found = await read(query, row);
    if (!found.row && row.paymentId !== undefined) throw new PaymentTaken();
    return { isWritten: false, ...found };
  };

  /** Reads the current row in the merchant's transaction. A locking read ignores an older snapshot. */
  const readIn = async (query: SqlQuery, sql: Statements, key: RowKey) => {
    const [line] = await query(sql.lock(1), keyOf(key));
    const now = clockOf(line ?? (await query(sql.clock))[0] ?? {});
    return { row: rowIn(line), now, writer: line?.writer };
  };

  return {
    async migrate(database) {
      await migrate(database, table, migrations);
      await named((text, values) => database.query(text, values));
    },
    ddl: () => ddlOf(table, migrations),
    advised,

    read,

    async owner(query, paymentId) {
      const sql = await named(query);
      return oneOf(query, sql, await query(sql.owner, [inScope, hex(paymentId)]));
    },

    async write(query, row) {
      const sql = await named(query);
      return row.revision > 0 ? replace(query, sql, row) : insert(query, sql, row);
    },

    async writeIn(query, row) {
      if (!(await isOpen(query))) return undefined;
      // Not kept: the merchant's connection may use another database.
      const sql = resolved ?? (await resolve(query));
      if (row.revision > 0) {
        const isWritten = hasChanged(await query(sql.replaceIn, replaced(row)).catch(paymentTaken));
        const { row: found, now } = await readIn(query, sql, row).catch(afterWrite);
        return { isWritten, row: found, now };
      }
      const own = randomUUID();
      await query(sql.plan, inserted(row, 1, own));
      const { row: found, now, writer } = await readIn(query, sql, row).catch(afterWrite);
      if (!found && row.paymentId !== undefined) throw new PaymentTaken();
      return { isWritten: writer === own, row: found, now };
    },

    async list(query, { kind, states }) {
      const sql = await named(query);
      const lines = await query(sql.list(states.length), [inScope, kind, ...states]);
      return { rows: rowsIn(lines), now: lines[0] ? check(lines[0]) : await clock(query, sql) };
    },

    /** Locks the due rows state by state: only then an index has their order, and MySQL locks no other rows. */
    due: (database, { kind, states, olderThan = 0 }, limit, leaseMs) =>
      database.transaction(async tx => {
        const query = database.queryIn(tx);
        const sql = await named(query);
        const lines: SqlRow[] = [];
        for (const state of states) {
          lines.push(...(await query(sql.due(limit), [kind, state, inScope, String(olderThan)])));
        }
        const now = clockOf((await query(sql.clock))[0] ?? {});
        const rows = rowsIn(lines)
          .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
          .slice(0, limit)
          .map(row => ({ ...nextOf(row), leasedUntil: now + leaseMs }));
        if (rows.length > 0) await query(sql.lease(rows.length), [String(now + leaseMs), ...rows.flatMap(keyOf)]);
        return { rows, now };
      }),

    ...effectSql(named, values),
  };
}

const nextOf = (row: StoreRow): StoreRow => ({ ...row, revision: row.revision + 1 });

const NOT_DURABLE =
  'mysqlStore: innodb_flush_log_at_trx_commit is not 1 on this server. If it crashes, it may lose the creates of the last second, and a retry would pay them again. Set it to 1, and sync_binlog to 1 if replicas are promoted.';
