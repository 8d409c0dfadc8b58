// The transaction of an effect in MySQL. A savepoint identifies it.
import { randomUUID } from 'node:crypto';
import { checkedIn, isAt, ofPayment } from '../sql/answer.ts';
import { hasChanged, type SqlQuery } from '../sql/database.ts';
import type { Table } from '../sql/dialect.ts';
import { orTaken, paymentTaken, rowChanged, sqlCodeOf } from '../sql/errors.ts';
import type { RowKey, StoreRow } from '../store/contract.ts';
import { AT, COLUMNS, json, type Reader, rowOf, statementsOver, writtenRow } from './row.ts';

const SAVEPOINT = 'payment_gateway_effect';

export function effectsOver(table: string, reader: Reader): Pick<Table, 'begin' | 'complete' | 'isEnded'> {
  const { read, at } = reader;
  const { insert, replace } = statementsOver(table, at);
  const LOCKED = `SELECT ${COLUMNS} FROM ${table} WHERE ${AT} FOR UPDATE`;
  const MARK = `UPDATE ${table} SET state = 'begun', revision = revision + 1, about = UNHEX(?), writer = ? WHERE ${AT}`;
  return {
    async begin(query, { id, about, reads }) {
      const key = ofPayment(id);
      const [line] = await query(`${LOCKED} SKIP LOCKED`, at(key));
      if (!line) return 'busy';
      const payment = rowOf(line);
      if (payment.state === 'begun') return 'uncertain';
      await query(`SAVEPOINT ${SAVEPOINT}`);
      const writer = randomUUID();
      await query(MARK, [json(about), writer, ...at(key)]);
      const nameOf = ({ kind, id }: RowKey) => `${kind} ${id}`;
      const inOrder = [...reads].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
      /** One row after the other by its whole key, because a range would lock other rows. */
      const all = inOrder.map(() => `(${LOCKED})`).join(' UNION ALL ');
      const rows = reads.length === 0 ? [] : (await query(all, inOrder.flatMap(at))).map(rowOf);
      const find = (key: RowKey) => rows.find(row => isAt(row, key));
      return {
        begun: { id, writer, revision: payment.revision + 1 },
        payment: writtenRow(payment),
        rows: reads.map(find).map(row => row && writtenRow(row)),
      };
    },
    async complete(query, begun, rows) {
      if (!(await hasSavepoint(query, `RELEASE SAVEPOINT ${SAVEPOINT}`))) return false;
      const writer = randomUUID();
      for (const row of rows) {
        const isMark = isAt(row, ofPayment(begun.id));
        const isNew = row.revision === 0 && !isMark;
        // The mark was a write of the payment's row, which this one completes.
        const existing = isMark ? begun.revision : row.revision;
        const statement = isNew ? insert(row, 1, writer) : replace(row, existing);
        const isChanged = hasChanged(await query(...statement).catch(orTaken));
        if (isMark && !isChanged) return false;
        if (isNew) await expectInserted(query, row, writer);
        else if (!isChanged) throw rowChanged();
      }
      return true;
    },
    async isEnded(query) {
      const [last] = await query('SHOW ERRORS').catch(() => []);
      const isOurs = await hasSavepoint(query, `ROLLBACK TO SAVEPOINT ${SAVEPOINT}`).catch(refusedByPrisma);
      return !isOurs && !UNDOES.has(String(last?.Code));
    },
  };

  async function expectInserted(query: SqlQuery, row: StoreRow, own: string): Promise<void> {
    const [text, values] = read(row);
    const { row: stored, writer } = checkedIn(reader, await query(`${text} FOR UPDATE`, values), false);
    if (!stored && row.paymentId !== undefined) throw paymentTaken();
    if (writer !== own) throw rowChanged();
  }
}

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
