import { isDeepStrictEqual } from 'node:util';
import { ApiError, type Payment } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/schemas/records/response.ts';
import { type Attempt, type CreateRow, newRow, type ReadRow, storeRowOf } from '../../src/store/rules/create-row.ts';
import { replanned } from '../../src/store/rules/plan.ts';
import {
  abandon,
  acknowledge,
  begin,
  observe,
  reconcile,
  recordEnd,
  recordPayment,
  release,
  settle,
  takeBack,
  yieldPayment,
} from '../../src/store/rules/transitions.ts';
import { ID, OTHER_ID, record } from '../support/fixtures.ts';

/** When everything here began, by the store's clock. */
const BEGUN = 1_000_000;

const attempt: Attempt = {
  reference: 'payout-1',
  attemptId: 'first',
  ...{ paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '25.5', currency: 'EUR' },
  bodyHash: 'hash',
  timeoutMs: 60_000,
};
const newer: Attempt = { ...attempt, attemptId: 'newer' };
const NOW = BEGUN + 5;
const MARGIN = 600_000;

const payment = (id = ID, changes: object = {}): Payment => ({
  ...JSON.parse(record('created, unwrapped')),
  ...{ paymentType: 'DEPOSIT', amount: 25.5, currency: 'EUR', reference: 'payout-1' },
  ...changes,
  id,
});
const answer = (id = ID): Envelope => ({ payment: { ...payment(id), redirectUrl: 'https://pay.example/p' } });
const callback = (id = ID): Envelope => ({ payment: payment(id) });
/** As a store keeps it: the fields of `payment` that are the customer's are gone. */
const kept = ({ payment: { customer, billingAddress, description, ...payment } }: Envelope): Envelope => ({
  payment: payment as Payment,
});

const begun: ReadRow = { ...newRow(attempt), begunAt: BEGUN, now: NOW };
const freed: ReadRow = { ...begun, state: 'freed', revision: 2 };
const DUE = { dueAt: BEGUN };
const suspecting = (id = ID): ReadRow => ({ ...begun, ...DUE, paymentId: id });
const created = (id = ID, result = answer(id)): ReadRow => ({
  ...begun,
  ...DUE,
  state: 'created',
  paymentId: id,
  result: kept(result),
});
/** As a callback, lookup or operator makes it: without the page of the create's own answer. */
const settled = (id = ID, result = callback(id)): ReadRow => ({ ...created(id, result), isAnswerLost: true });
const ended: ReadRow = { ...begun, isAnswerLost: true };
const planned = (changes: Partial<CreateRow> = {}): ReadRow => ({
  ...{ ...begun, attemptId: 'plan', timeoutMs: 0 },
  ...{ ...DUE, state: 'planned', body: '{"request":{}}', ...changes },
});
const seenAs = (paymentStatus: string, id = ID): Payment => payment(id, { paymentStatus });
const reconciled = (row: CreateRow | undefined, of = payment()) => reconcile(row, of);

/** Rows by their name in the tables. A is the payment of the events, B another one. `+B` is a conflicting id. */
const ROWS: Record<string, ReadRow | undefined> = {
  none: undefined,
  begun,
  retry: { ...begun, isRetry: true },
  'begun A': suspecting(),
  'begun B': suspecting(OTHER_ID),
  'begun +B': { ...begun, ...DUE, conflictingIds: [OTHER_ID] },
  newer: { ...begun, ...newer },
  freed,
  planned: planned({ leasedUntil: BEGUN + 1 }),
  'created A': created(),
  'created B': created(OTHER_ID),
  'failed B': created(OTHER_ID, { payment: seenAs('FAILED', OTHER_ID) }),
};

/** Events by their name in the tables. */
const EVENTS: Record<string, (row: ReadRow) => object> = {
  'another create': row => begin(row, newer),
  'its answer': row => recordPayment(row, attempt, answer()),
  'an error with A': row => recordPayment(row, attempt, ID),
  'no answer': row => recordEnd(row, attempt),
  "another's B": row => recordEnd(row, attempt, OTHER_ID),
  'a refusal': row => release(row, attempt, 'rejected'),
  'not sent': row => release(row, attempt, 'not_sent'),
  'not written': row => takeBack(row, attempt),
  'A is confirmed': row => reconciled(row),
  'A has failed': row => reconciled(row, seenAs('FAILED')),
  'A of amount 9': row => reconciled(row, payment(ID, { amount: 9 })),
  'A, folded': row => reconciled(row, payment(ID, { reference: 'PAYOUT-1' })),
  'settled with A': row => (row ? settle(row, payment()) : {}),
  'settled without': row => (row ? abandon({ ...row, now: BEGUN + 60_000 + MARGIN + 1 }, MARGIN) : {}),
  'without, too early': row => (row ? abandon({ ...row, now: BEGUN + 60_000 + MARGIN }, MARGIN) : {}),
};

/**
 * What follows, with every field that differs from those of the attempt: `over` has no time left, `now` begins anew, and
 * `r2` is the revision. `same` writes the row again, `-` changes nothing.
 */
function shown(row: CreateRow | undefined, step: object): string {
  const { next, otherPayment, outcome, ...more } = step as ReturnType<typeof reconciled>;
  const nameOf = (id?: string) => (id === ID ? 'A' : id === OTHER_ID ? 'B' : 'none');
  const beside = otherPayment === undefined ? '' : `beside ${nameOf(otherPayment)}`;
  const facts = Object.entries(more).flatMap(([name, is]) => (is ? name : []));
  if (!next) return [...facts, beside].join('') || '-';
  const { state, paymentId, conflictingIds, result, dueAt, begunAt, revision, attemptId, timeoutMs, ...rest } = next;
  const { redirectUrl, paymentStatus = 'PENDING' } = result?.payment ?? {};
  const flags = Object.entries({ ...rest, now: NOW }).flatMap(([key, is]) => (is === begun[key as never] ? [] : key));
  const words = [
    ...[state, paymentId && nameOf(paymentId), ...conflictingIds.map(id => `+${nameOf(id)}`)],
    ...[paymentStatus !== 'PENDING' && paymentStatus, redirectUrl && 'page', attemptId !== 'first' && attemptId],
    ...[timeoutMs === 0 && 'over', begunAt === NOW && 'now', revision > 0 && `r${revision}`, ...flags],
    dueAt !== (paymentId || conflictingIds.length > 0 ? begunAt : undefined) && `due at ${dueAt}`,
  ];
  const text = next !== row && isDeepStrictEqual(next, row) ? 'same' : words.filter(Boolean).join(' ');
  return [text, outcome, ...facts, beside]
    .filter(Boolean)
    .join(', ')
    .replace(/is(\w+)/g, (_, name) => name.toLowerCase());
}

describe('a create', () => {
  const TABLES = `
          | another create     | its answer                  | an error with A                 | no answer
none      | begun newer        | created A page over         | begun A over answerlost         | -
begun     | -                  | created A page              | begun A answerlost              | begun answerlost
retry     | -                  | created A page retry        | begun A retry answerlost        | begun retry answerlost
begun A   | -                  | created A page              | begun A answerlost              | begun A answerlost
begun B   | -                  | created A +B page, beside B | begun B +A answerlost, beside B | begun B answerlost
begun +B  | -                  | created A +B page           | begun A +B answerlost           | begun +B answerlost
newer     | begun newer        | begun +A newer, beside none | begun +A newer, beside none     | -
freed     | begun newer now r2 | created A page over now r2  | begun A over now r2 answerlost  | -
planned   | -                  | created A page over now     | begun A over now answerlost     | -
created A | -                  | same                        | same                            | -
created B | -                  | created A +B page, beside B | created B +A page, beside B     | -
failed B  | -                  | created A +B page, beside B | created B +A FAILED, beside B   | -

          | another's B               | a refusal   | not sent    | not written
none      | -                         | -           | -           | freed
begun     | begun +B answerlost       | freed retry | freed       | freed
retry     | begun +B retry answerlost | freed retry | freed retry | freed retry
begun A   | begun A +B answerlost     | -           | -           | -
begun B   | begun B answerlost        | -           | -           | -
begun +B  | begun +B answerlost       | -           | -           | -
newer     | -                         | -           | -           | -
freed     | -                         | -           | -           | same
planned   | -                         | -           | -           | -
created A | -                         | -           | -           | -
created B | -                         | -           | -           | -
failed B  | -                         | -           | -           | -

          | A is confirmed                              | A has failed
none      | created A unseen over bodyHash, created     | created A FAILED unseen over bodyHash, created
begun     | created A answerlost, settled               | created A FAILED answerlost, settled
retry     | created A retry answerlost, settled         | begun +A retry, beside none
begun A   | created A answerlost, settled               | created A FAILED answerlost, settled
begun B   | created A +B answerlost, settled            | begun B +A, beside B
begun +B  | created A +B answerlost, settled            | created A +B FAILED answerlost, settled
newer     | created A newer answerlost, settled         | created A FAILED newer answerlost, settled
freed     | created A r2 answerlost, created            | -
planned   | created A plan over answerlost, created     | -
created A | -                                           | created A FAILED
created B | created B +A page, beside B                 | created B +A page, beside B
failed B  | created A +B, beside B                      | created B +A FAILED, beside B

          | A of amount 9                                      | A, folded
none      | created A unseen over amount bodyHash, created     | created A unseen over reference bodyHash, created
begun     | begun +A                                           | begun +A
retry     | begun +A retry                                     | begun +A retry
begun A   | -                                                  | created A answerlost, settled
begun B   | begun B +A                                         | begun B +A
begun +B  | begun +B +A                                        | begun +B +A
newer     | begun +A newer                                     | begun +A newer
freed     | begun +A r2 answerlost                             | begun +A r2 answerlost
planned   | begun +A plan over answerlost                      | begun +A plan over answerlost
created A | created A page                                     | created A page
created B | created B +A page, beside B                        | created B +A page, beside B
failed B  | created B +A FAILED, beside B                      | created A +B, beside B

          | settled with A             | settled without   | without, too early
none      | -                          | -                 | -
begun     | created A answerlost       | freed retry       | -
retry     | created A retry answerlost | freed retry       | -
begun A   | created A answerlost       | -                 | -
begun B   | created A +B answerlost    | -                 | -
begun +B  | created A +B answerlost    | -                 | -
newer     | created A newer answerlost | freed newer retry | -
freed     | created A r2 answerlost    | -                 | -
planned   | -                          | freed plan over   | freed plan over
created A | -                          | -                 | -
created B | -                          | -                 | -
failed B  | -                          | -                 | -`;
  const cases = TABLES.trim()
    .split('\n\n')
    .flatMap(table => {
      const [[, ...events], ...rows] = table
        .split('\n')
        .map(line => line.split('|').map(cell => cell.trim())) as string[][] & [string[]];
      return rows.flatMap(([row, ...cells]) => cells.map((expected, index) => [row, events[index], expected] as const));
    });
  it.each(cases)('%s, %s: %s', (row = '', event = '', expected) => {
    const before = ROWS[row];
    expect(shown(before, EVENTS[event]?.(before as ReadRow) as object)).toBe(expected);
  });
  it('has every row and every event in these tables', () => {
    expect(cases).toHaveLength(Object.keys(ROWS).length * Object.keys(EVENTS).length);
  });
});

describe('begin', () => {
  it('keeps the revision of a free row, and that its payment may have failed before', () => {
    const row = { ...freed, conflictingIds: [OTHER_ID], isRetry: true };
    expect(begin(row, newer).next).toEqual({ ...newRow(newer), begunAt: NOW, isRetry: true, revision: 2 });
  });

  it('takes the same attempt twice as one, until something has happened to it', () => {
    expect(begin(begun, attempt)).toEqual({ next: begun });
    for (const row of [suspecting(), created(), { ...begun, conflictingIds: [OTHER_ID] }])
      expect(begin(row, attempt)).toEqual({});
  });
});

describe("an attempt's own answer", () => {
  it('comes on top of what a callback said before, because it has the next action', () => {
    for (const row of [settled(), ended, begun])
      expect(recordPayment(row, attempt, answer())).toEqual({ next: created() });
  });

  it('keeps the order of its attempt, and the payment that has paid it', () => {
    const kept = { order: 'order-1', paidBy: OTHER_ID };
    expect(newRow({ ...attempt, order: 'order-1' })).toEqual({ ...newRow(attempt), order: 'order-1' });
    expect(recordPayment({ ...begun, ...kept }, attempt, answer()).next).toMatchObject(kept);
    expect(begin({ ...freed, ...kept }, newer).next).toMatchObject({ paidBy: OTHER_ID });
    expect(begin({ ...freed, ...kept }, newer).next).not.toHaveProperty('order');
  });

  it('leaves nothing to look at where its payment has taken effect already', () => {
    const { dueAt, ...done } = created(ID, callback());
    expect(recordPayment(done, attempt, answer()).next).toEqual({ ...done, result: kept(answer()) });
  });

  it('is stored without the time at which the row was read', () => {
    expect(storeRowOf({ ...begun, now: BEGUN }).data).not.toHaveProperty('now');
  });

  it('takes its own id out of the conflicting ones', () => {
    const { next } = recordPayment({ ...begun, conflictingIds: [ID, OTHER_ID] }, attempt, answer());
    expect(next).toEqual({ ...created(), conflictingIds: [OTHER_ID] });
  });

  it('of a newer attempt that knows the payment, in any case, changes nothing', () => {
    const row = { ...begun, ...newer, paymentId: ID.toUpperCase() };
    expect(recordPayment(row, attempt, answer())).toEqual({});
    const known = { next: { ...suspecting(), isAnswerLost: true } };
    expect(recordPayment(suspecting(), attempt, ID.toUpperCase())).toEqual(known);
  });
});

describe('a payment that is seen again', () => {
  const seen = (paymentStatus: string, changes: object = {}) => payment(ID, { paymentStatus, ...changes });

  it('moves on, and never back', () => {
    const authorized = observe(created(), seen('AUTHORIZED')).next;
    const shown = { paymentStatus: 'AUTHORIZED', redirectUrl: 'https://pay.example/p' };
    expect(authorized?.result?.payment).toMatchObject(shown);
    for (const status of ['PENDING', 'AUTHORIZED']) expect(observe(authorized, seen(status))).toEqual({});
  });

  it('has no next action once it is final, for ever', () => {
    const completed = observe(created(), seen('COMPLETED', { crypto_tx_hash: '0x1' })).next;
    expect(completed?.result).toEqual({
      payment: { ...kept(callback()).payment, paymentStatus: 'COMPLETED', crypto_tx_hash: '0x1' },
    });
    expect(observe(completed, seen('AUTHORIZED'))).toEqual({});
    expect(observe(completed, seen('FAILED')).next?.result?.payment.paymentStatus).toBe('FAILED');
  });

  it('is kept with what has come beside its status, and with a status that this SDK does not know', () => {
    const failed = observe(created(), seen('FAILED')).next;
    const withHash = observe(failed, seen('FAILED', { crypto_tx_hash: '0x1' })).next;
    expect(withHash?.result?.payment).toHaveProperty('crypto_tx_hash', '0x1');
    const refunded = seen('UNKNOWN', { rawPaymentStatus: 'REFUNDED' });
    expect(observe(failed, refunded).next?.result?.payment).toHaveProperty('rawPaymentStatus', 'REFUNDED');
  });

  it('is due at once with each final status, whatever has taken effect before', () => {
    const { dueAt, ...done } = { ...created(), looks: 9 };
    expect(observe(done, seen('AUTHORIZED')).next).not.toHaveProperty('dueAt');
    const completed = observe({ ...created(), dueAt: BEGUN + 99, looks: 9 }, seen('COMPLETED')).next;
    expect(completed).toMatchObject({ dueAt: BEGUN, looks: 0 });
    const acknowledged = acknowledge(completed as CreateRow, seen('COMPLETED'));
    expect(acknowledged).toMatchObject({ dueAt: BEGUN, effectAt: BEGUN });
    const failed = observe({ ...acknowledged, dueAt: BEGUN + 99 }, seen('FAILED')).next as CreateRow;
    expect(failed).toMatchObject({ dueAt: BEGUN, effectAt: undefined, looks: 0 });
    expect(acknowledge(failed, seen('FAILED'))).not.toHaveProperty('dueAt');
    const same = observe(acknowledged, seen('COMPLETED', { crypto_tx_hash: '0x1' })).next;
    expect(same).toMatchObject({ dueAt: BEGUN, effectAt: BEGUN });
  });

  it('changes nothing for the same record, also with an unreadable time', () => {
    const record = payment(ID, { created: { date: undefined, timezone_type: undefined, timezone: 'UTC' } });
    const row = JSON.parse(JSON.stringify(created(ID, { payment: record })));
    expect(observe(row, record)).toEqual({});
  });

  it('changes nothing of another payment, nor of a doubt', () => {
    for (const row of [created(OTHER_ID), suspecting(), undefined]) expect(observe(row, seen('COMPLETED'))).toEqual({});
  });
});

it('a differing payment that a freed reference knows puts it in doubt again', () => {
  const row = { ...freed, conflictingIds: [OTHER_ID] };
  expect(reconciled(row, payment(OTHER_ID, { amount: 1 })).next).toMatchObject({ ...row, state: 'begun' });
});

describe('an effect', () => {
  const ended = (paymentStatus: string) => {
    const final = payment(ID, { paymentStatus });
    return { final, row: created(ID, { payment: final }) };
  };
  const { final, row: completed } = ended('COMPLETED');
  const failed = ended('FAILED');
  const { dueAt: _, ...notDue } = completed;
  const { dueAt: __, ...failedDone } = failed.row;
  const done = { ...completed, effectAt: BEGUN };
  const two = { ...completed, conflictingIds: [OTHER_ID] };
  const keptFailed = { payment: kept({ payment: failed.final }).payment };

  it.each<[string, CreateRow, Payment, next: CreateRow | undefined]>([
    ['of a paid payment leaves its rechecks, and its status is kept', created(), final, done],
    ['of a paid payment leaves its rechecks', completed, final, done],
    [
      'of a paid payment leaves its next recheck',
      { ...done, dueAt: BEGUN + 99 },
      final,
      { ...done, dueAt: BEGUN + 99 },
    ],
    [
      'of a failed payment leaves nothing to look at, and no lease',
      { ...created(), leasedUntil: BEGUN + 1 },
      failed.final,
      { ...failedDone, result: keptFailed },
    ],
    ['of a final status before the last one leaves that one to look at', failed.row, final, undefined],
    ['of a reference that has nothing left to look at changes nothing', notDue, final, notDue],
    ['leaves a reference to look at that may have other payments', two, final, two],
    ['says nothing of a doubt', suspecting(), final, undefined],
    ['says nothing of another payment', created(OTHER_ID), final, undefined],
    ['says nothing of a free reference', freed, final, undefined],
  ])('%s', (_, row, payment, next) => {
    expect(acknowledge(row, payment)).toEqual(next ?? row);
  });

  it('of a status that is not final leaves it to look at', () => {
    expect(acknowledge(created(), seenAs('AUTHORIZED'))).toMatchObject({ dueAt: BEGUN });
  });
});

describe('a confirmed payment', () => {
  it.each([{ currency: 'USD' }, { paymentType: 'WITHDRAWAL' }, { amount: 25.51 }])(
    'of %j does not settle a doubt, and is kept',
    changes => {
      const next = { ...begun, ...DUE, conflictingIds: [ID] };
      expect(reconciled(begun, payment(ID, changes))).toEqual({ next });
      expect(reconciled(next, payment(OTHER_ID)).next).toEqual({ ...settled(OTHER_ID), conflictingIds: [ID] });
    },
  );

  it('that has failed settles a retry only if the own answer has named it', () => {
    const retry = { ...begun, isRetry: true };
    expect(reconciled({ ...retry, paymentId: ID }, seenAs('FAILED')).outcome).toBe('settled');
    expect(reconciled(retry, seenAs('FAILED'))).toHaveProperty('otherPayment', '');
  });

  it('of another reference settles nothing, nor one without a reference unless the own answer has named it', () => {
    const reported = { ...begun, conflictingIds: [ID] };
    for (const reference of ['payout-2', null]) expect(reconciled(reported, payment(ID, { reference }))).toEqual({});
    expect(reconciled(suspecting(), payment(ID, { reference: 'payout-2' }))).toEqual({});
    expect(reconciled(suspecting(), payment(ID, { reference: null }))).toHaveProperty('outcome', 'settled');
  });

  it('is not kept beside itself', () => {
    const failed = { ...created(OTHER_ID, { payment: seenAs('FAILED', OTHER_ID) }), conflictingIds: [ID] };
    expect(reconciled(failed).next).toEqual({ ...created(ID, callback()), conflictingIds: [OTHER_ID] });
    const known = { ...created(OTHER_ID), conflictingIds: [ID] };
    expect(reconciled(known)).toEqual({ next: known, otherPayment: OTHER_ID });
  });

  it('gives a freed reference its payment, its order and its payer', () => {
    const kept = { order: 'order-1', paidBy: OTHER_ID, revision: 2 };
    expect(reconciled({ ...freed, ...kept })).toEqual({ outcome: 'created', next: { ...settled(), ...kept } });
  });

  it('is given up by a row made only from it, and by no other', () => {
    const { next: unseen } = reconciled(undefined);
    const { dueAt, paymentId, result, ...rest } = unseen as CreateRow;
    expect(yieldPayment(unseen)).toEqual({ next: { ...rest, state: 'freed' } });
    for (const row of [undefined, created(), begun]) expect(yieldPayment(row)).toEqual({});
  });
});

describe('a planned payout', () => {
  const { body, dueAt, ...withoutBody } = planned();

  it('becomes an attempt, which keeps no body', () => {
    const next = { ...newRow(attempt), begunAt: NOW, isRetry: true, revision: 7 };
    const row = planned({ isRetry: true, revision: 7, leasedUntil: BEGUN + 1 });
    expect(begin(row, attempt, row)).toEqual({ next });
  });

  it('does not become an attempt once it has changed since it was claimed', () => {
    const claimed = planned({ revision: 7 });
    for (const row of [undefined, planned({ revision: 8 }), { ...freed, revision: 7 }, created()]) {
      expect(begin(row, attempt, claimed)).toEqual({});
    }
  });

  it('is there again in its old place if its attempt was never sent, and knows whether it was', () => {
    const claimed = planned({ dueAt: BEGUN - 5, leasedUntil: BEGUN + 1, revision: 7 });
    const attempted = { ...begun, revision: 8 };
    const next = planned({ dueAt: BEGUN - 5, revision: 7 });
    expect(release(attempted, attempt, 'not_sent', claimed)).toEqual({ next });
    expect(release(attempted, attempt, 'rejected', claimed)).toEqual({ next: { ...next, isRetry: true } });
    expect(takeBack(attempted, attempt, claimed)).toEqual({ next });
  });

  it('keeps out an attempt that is still being written, but only its own', () => {
    const row = planned({ revision: 7, leasedUntil: BEGUN + 1 });
    expect(takeBack(row, attempt, row)).toEqual({ next: planned({ revision: 7 }) });
    // A direct create could only have inserted a row.
    expect(takeBack(row, attempt)).toEqual({});
  });

  it('is not sent any more once an earlier attempt turns out to have made its payment', () => {
    const row = planned({ revision: 7 });
    const again = { timeoutMs: 0, begunAt: NOW, dueAt: NOW, revision: 7, now: undefined };
    const next = { ...created(), ...again };
    expect(recordPayment(row, attempt, answer())).toEqual({ next });
    const other = planned({ revision: 7, bodyHash: 'another' });
    expect(recordPayment(other, attempt, answer())).toEqual({ next, otherPayment: '' });
    expect(recordPayment(row, attempt, ID)).toEqual({ next: { ...ended, ...again, paymentId: ID } });
  });

  it('makes way for the others after an answer, and is freed for its review after the third', () => {
    const answer = new ApiError('no', { status: 403, body: '' }, { outcome: 'rejected' });
    const answered = (looks: number, error: unknown = answer) => replanned(planned({ looks }), error, BEGUN);
    expect(answered(0)).toEqual(planned({ looks: 1, dueAt: BEGUN + 15_000 }));
    expect(answered(1)).toEqual(planned({ looks: 2, dueAt: BEGUN + 30_000 }));
    const refused = { ...withoutBody, state: 'freed', dueAt: BEGUN + 60_000 };
    expect(answered(2)).toEqual({ ...refused, looks: 2 });
    expect(answered(0, new ApiError('no', { status: 422, body: '' }, { outcome: 'rejected' }))).toEqual(refused);
    expect(answered(1, new Error('not sent'))).toEqual(planned({ looks: 1 }));
  });
});
