// The SQL of an effect in MySQL: a payment is a locked row, and a savepoint identifies its transaction.
import { randomUUID } from 'node:crypto';
import { type SqlQuery, sqlCodeOf } from '../sql/database.ts';
import type { StoreSql } from '../sql/store.ts';
import { rowChanged } from '../sql/store.ts';
import { PaymentTaken, type StoreEffect, type StoreRow } from '../store/contract.ts';
import { lineOf, nameOf, ofPayment, rowIn, rowsIn, type valuesIn } from './lines.ts';
import type { Statements } from './statements.ts';
import {
  asciiHex,
  checkCommitted,
  hasChanged,
  hasSavepoint,
  insertedAlone,
  notCommitted,
  paymentTaken,
  TAKEN,
} from './table.ts';

/** The mark of a running effect. */
export interface MysqlBegun {
  /** The payment's id. */
  id: string;
  /** Identifies the effect in the payment's row. */
  writer: string;
  /** The revision of the mark. */
  revision: number;
}

type EffectSql = Required<
  Pick<StoreSql<MysqlBegun>, 'prepare' | 'begin' | 'complete' | 'isEnded' | 'find' | 'markUncertain'>
>;

const SAVEPOINT = 'payment_gateway_effect';
/** The state of a payment whose effect has begun. */
const BEGUN = 'begun';
/** A payment's row before its first write. */
const PREPARED = { state: 'new', revision: 0, data: {} };

/** @param named returns the statements of the table */
export function effectSql(
  named: (query: SqlQuery) => Promise<Statements>,
  { keyOf, inserted, replaced }: ReturnType<typeof valuesIn>,
): EffectSql {
  /** Effects whose transaction was still open when their work was complete. */
  const proven = new WeakSet<MysqlBegun>();

  /** Inserts in a separate transaction, because workers wait for an uncommitted row instead of skipping it. */
  const prepare = async (query: SqlQuery, { id }: StoreEffect) => {
    const sql = await named(query);
    const [line] = await query(sql.exists, keyOf(ofPayment(id)));
    checkCommitted(line);
    if (line?.found === '1') return;
    await insertedAlone(query, sql.insert, inserted({ ...ofPayment(id), ...PREPARED }, 0, null));
  };

  /** @returns whether the key was free */
  const insert = async (query: SqlQuery, sql: Statements, row: StoreRow): Promise<boolean> => {
    try {
      return hasChanged(await query(sql.insertIn, inserted(row, 1, null)));
    } catch (error) {
      if (sqlCodeOf(error) !== TAKEN) throw error;
      if (row.paymentId === undefined) return false;
      const [line] = await query(sql.lock(1), keyOf(row));
      if (line) return false;
      throw new PaymentTaken();
    }
  };

  return {
    prepare,

    async begin(query, { id, about, reads }) {
      const sql = await named(query);
      const key = keyOf(ofPayment(id));
      const [line] = await query(sql.lockFree, key);
      if (!line) return 'busy';
      const { state, revision } = lineOf(line);
      if (state === BEGUN) return 'uncertain';
      await query(`SAVEPOINT ${SAVEPOINT}`);
      const writer = randomUUID();
      await query(sql.begin, [asciiHex(about), writer, ...key]);
      const inOrder = [...reads].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
      const lines = reads.length === 0 ? [] : await query(sql.lock(reads.length), inOrder.flatMap(keyOf));
      const rows = rowsIn(lines);
      return {
        begun: { id, writer, revision: revision + 1 },
        payment: rowIn(line),
        rows: reads.map(key => rows.find(row => nameOf(row) === nameOf(key))),
      };
    },

    async complete(query, begun, rows) {
      if (!(await hasSavepoint(query, `RELEASE SAVEPOINT ${SAVEPOINT}`))) return false;
      proven.add(begun);
      const sql = await named(query);
      const replace = async (row: StoreRow, existing: number) => {
        const statement = row.revision === 0 ? sql.replaceNew : sql.replaceIn;
        return hasChanged(await query(statement, replaced(row, existing)).catch(paymentTaken));
      };
      const write = (row: StoreRow) => {
        // The mark was a write of the payment's row, which this one completes.
        if (nameOf(row) === nameOf(ofPayment(begun.id))) return replace({ ...row, about: undefined }, begun.revision);
        return row.revision === 0 ? insert(query, sql, row) : replace(row, row.revision);
      };
      for (const row of rows) if (!(await write(row))) throw rowChanged();
      return true;
    },

    async isEnded(query, begun) {
      // An error of `complete`, whose caller rolls back.
      if (proven.has(begun)) return false;
      const [last] = await query('SHOW ERRORS').catch(() => []);
      const isOurs = await hasSavepoint(query, `ROLLBACK TO SAVEPOINT ${SAVEPOINT}`).catch(refusedByPrisma);
      return !isOurs && !UNDOES.has(String(last?.Code));
    },

    async find(query, { id, writer, revision }) {
      const [line] = await query((await named(query)).read, keyOf(ofPayment(id)));
      if (!line) return undefined;
      // Inside a transaction, it would see its own mark before the commit.
      checkCommitted(line);
      const row = lineOf(line);
      if (line.writer === writer) return row.state === BEGUN ? 'begun' : 'done';
      // A later effect of the payment has a higher revision only if this one was committed.
      return row.revision > revision ? 'done' : undefined;
    },

    async markUncertain(query, effect, { id, writer }) {
      await prepare(query, effect);
      const sql = await named(query);
      const key = keyOf(ofPayment(id));
      if (hasChanged(await query(sql.markUncertain, [asciiHex(effect.about), writer, ...key]))) return;
      const [line] = await query(sql.read, key);
      if (!line || lineOf(line).state !== BEGUN) throw notCommitted();
    },
  };
}

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
