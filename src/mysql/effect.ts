// The transaction of an effect in MySQL. A savepoint identifies it.
import { randomUUID } from 'node:crypto';
import { isAt, newPayment, ofPayment } from '../sql/answer.ts';
import { isUndone } from '../sql/bounded.ts';
import type { SqlQuery } from '../sql/database.ts';
import type { Effects, Table } from '../sql/dialect.ts';
import { orTaken, rowChanged, sqlCodeOf } from '../sql/errors.ts';
import { rowOf, type statementsOver } from './statements.ts';

const SAVEPOINT = 'payment_gateway_effect';

export function effectsOver({ lock, replace }: ReturnType<typeof statementsOver>, write: Table['write']): Effects {
  return {
    async begin(query, { id, about, reads }) {
      const [text, at] = lock(ofPayment(id));
      const [line] = await query(`${text} SKIP LOCKED`, at);
      if (!line) return 'busy';
      const payment = rowOf(line);
      if (payment?.state === 'begun') return 'uncertain';
      await query(`SAVEPOINT ${SAVEPOINT}`);
      const writer = randomUUID();
      const mark = { ...newPayment(id), ...payment, state: 'begun', about };
      await query(...replace(mark, mark.revision, writer));
      // In one order, so that effects cannot wait for each other.
      const inOrder = reads.map(lock).sort();
      /** One row after the other by its whole key, because a range would lock other rows. */
      const texts = inOrder.map(([text]) => `(${text})`);
      const values = inOrder.flatMap(([, keys = []]) => keys);
      const others = texts.length > 0 ? await query(texts.join(' UNION ALL '), values) : [];
      return { id, writer, payment, rows: others.flatMap(line => rowOf(line) ?? []) };
    },
    async complete(query, { id, writer, rows: locked }, rows) {
      if (await isRefused(query, `RELEASE SAVEPOINT ${SAVEPOINT}`, WITHOUT_SAVEPOINT)) return false;
      for (const row of rows) {
        const isMark = isAt(row, ofPayment(id));
        const isLocked = locked.some(found => isAt(found, row) && found.revision === row.revision);
        // The mark was a write of the payment's row.
        const stored = row.revision + Number(isMark);
        if (isMark || isLocked) await query(...replace(row, stored, writer)).catch(orTaken);
        else if (!(await write(query, row, false)).isWritten) throw rowChanged();
      }
      return true;
    },
    async isEnded(query) {
      const [last] = await query('SHOW ERRORS').catch(() => []);
      // Prisma (P2028) sends no query once a nested transaction failed to end, as after a deadlock.
      const isGone = await isRefused(query, `ROLLBACK TO SAVEPOINT ${SAVEPOINT}`, WITHOUT_SAVEPOINT, 'P2028');
      // If MySQL itself undid the transaction last, it committed no later statement.
      return isGone && !isUndone({ code: last?.Code });
    },
  };
}

/** MySQL's code for a missing savepoint, which ends with its transaction. */
const WITHOUT_SAVEPOINT = '1305';

/** Whether the statement is refused with one of these codes. */
export const isRefused = (query: SqlQuery, statement: string, ...codes: string[]) =>
  query(statement).then(
    () => false,
    error => {
      if (!codes.includes(String(sqlCodeOf(error)))) throw error;
      return true;
    },
  );
