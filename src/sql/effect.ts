// Runs an effect in one transaction with its mark: both are committed, or neither.
import { delay } from '../deadline.ts';
import { EffectCutOff, LOCK_PAUSES, type Store, type StoreEffect } from '../store/contract.ts';
import { isOfMerchant, remembering } from '../store/thrown.ts';
import { isAt, newPayment, ofPayment } from './answer.ts';
import { boundedTransaction, repeated } from './bounded.ts';
import { isCommitted } from './committed.ts';
import type { SqlDatabase, SqlQuery } from './database.ts';
import type { Marked, Table } from './dialect.ts';
import { advise } from './errors.ts';

/** @param query runs a statement outside any transaction */
export function effectsOver<Tx>(db: SqlDatabase<Tx>, open: () => Promise<Table>, query: SqlQuery): Store<Tx>['effect'] {
  return async (effect, work) => {
    const table = await open();
    /** @throws {EffectCutOff} if the transaction has ended, even if another one has begun */
    const take = async (tx: Tx, within: SqlQuery) => {
      // Before the work, so that a COMMIT of the effect also commits the mark.
      let marked = await table.begin(within, effect);
      for (const pause of LOCK_PAUSES) {
        if (marked !== 'busy') break;
        await delay(pause);
        marked = await table.begin(within, effect);
      }
      if (typeof marked === 'string') return marked;
      const rows = effect.reads.map(key => marked.rows.find(row => isAt(row, key)));
      const written = await remembering(() => work({ tx, payment: marked.payment, rows })).catch(async error => {
        throw (await table.isEnded(within, marked)) ? cutOff({ cause: error }) : error;
      });
      if (!written) throw SKIPPED;
      if (!(await table.complete(within, marked, written))) throw cutOff();
      return marked;
    };
    const end = await repeated(async () => {
      await table.prepare?.(query, effect.id);
      return boundedTransaction(db, take).catch(error => {
        // It concerns the merchant's own tables, or another effect.
        if (isOfMerchant(error)) throw error;
        if (error === SKIPPED) return 'skipped';
        return error instanceof EffectCutOff ? error : advise(error);
      });
    });
    if (typeof end === 'string') return end;
    if (end instanceof EffectCutOff) {
      // Later statements were committed, and perhaps the mark was not. `repeated` must not retry this.
      await markUncertain(table, query, effect);
      throw end;
    }
    if (!isCommitted(end)) await expectDone(table, query, end);
    return 'done';
  };
}

/** Rolls back an effect that wrote nothing. */
const SKIPPED = new Error('The effect was skipped.');

/** A library can report a commit after a rollback. Only the mark proves the commit. */
async function expectDone(table: Table, query: SqlQuery, { id, writer, payment }: Marked) {
  const { row, writer: found } = table.answerOf(await query(...table.read(ofPayment(id))));
  if (found === writer && row?.state === 'begun') throw cutOff();
  // A later effect of the payment has a higher revision only if this one was committed.
  if (found !== writer && (row?.revision ?? 0) <= (payment?.revision ?? 0) + 1) throw new Error(NOT_COMMITTED);
}

/** Writes a mark that may have been lost, as begun. */
async function markUncertain(table: Table, query: SqlQuery, { id, about }: StoreEffect) {
  for (;;) {
    const { row = newPayment(id) } = table.answerOf(await query(...table.read(ofPayment(id))));
    if (row.state === 'begun' || (await table.write(query, { ...row, state: 'begun', about }, true)).isWritten) return;
  }
}

const NOT_COMMITTED =
  'The transaction of the effect was rolled back, although the library reported a commit. The effect can run again. A query failed after your function returned: await every query.';

const cutOff = (options?: ErrorOptions) =>
  new EffectCutOff(
    'The transaction of the effect ended before your function returned, so the effect may be incomplete. It does not run again until you call gateway.resolveReview(paymentId, status). Leave BEGIN, COMMIT and ROLLBACK to the store.',
    options,
  );
