import { GatewayClient, type Payment } from 'payment-gateway-sdk';
import { beforeEach, describe, expect, it } from 'vitest';
import { FUNCTIONS } from '../../src/webhooks/functions.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';
import { CARD_ORDER, openOrderShop } from './order-shop.ts';

beforeEach(fakeTimers);

const DEPOSIT = { ...CARD_ORDER, reference: 'deposit-1' } as const;
const PAYOUT = { ...CARD_ORDER, paymentMethod: 'SEPA', amount: '120.00', reference: 'payout-1' } as const;

const callbackOf = (id: string) =>
  new Request('https://shop.example/callbacks', { method: 'POST', body: JSON.stringify({ id }) });

/** Answers each lookup with a status, and a reference in upper case: the functions get the merchant's own. */
const showing = (statusOf: () => string) => async (request: Request, response: Response) => {
  if (request.method !== 'GET') return response;
  const { result } = (await response.json()) as { result: { reference: string } };
  const reference = result.reference.toUpperCase();
  return Response.json({ result: { ...result, reference, paymentStatus: statusOf() } });
};

const ALL = { DEPOSIT, PAYOUT };

it.each<[kind: keyof typeof ALL, moves: string, lacking: string[], got: string[]]>([
  ['DEPOSIT', 'pay decline', [], ['onPaid', 'onReversed']],
  ['DEPOSIT', 'decline pay decline', [], ['onDeclined', 'onPaid', 'onReversed']],
  ['DEPOSIT', 'decline cancel', [], ['onDeclined']],
  ['DEPOSIT', 'pay decline cancel', [], ['onPaid', 'onReversed']],
  ['DEPOSIT', 'authorize pay', [], ['onAuthorized', 'onPaid']],
  ['DEPOSIT', 'pay', ['onPaid'], ['onReview paid']],
  ['DEPOSIT', 'pay decline', ['onReversed'], ['onPaid', 'onReview reversed']],
  ['PAYOUT', 'pay', [], ['onPaidOut']],
  ['PAYOUT', 'pay decline', [], ['onPaidOut', 'onPayoutFailed after onPaidOut']],
  ['PAYOUT', 'decline cancel', [], ['onPayoutFailed']],
  ['PAYOUT', 'decline pay', [], ['onPayoutFailed', 'onReview paid_again']],
  ['PAYOUT', 'pay decline', ['onPaidOut', 'onPayoutFailed'], ['onReview payout_failed']],
])('the outcomes of a %s after %s, with a handler that lacks %j, are %j', async (kind, moves, lacking, outcomes) => {
  const onPayoutFailed = ({ wasPaidOut }: { wasPaidOut: boolean }) =>
    void shop.got.push(`onPayoutFailed${wasPaidOut ? ' after onPaidOut' : ''} ${request.reference}`);
  const functions = { onPayoutFailed, ...Object.fromEntries(lacking.map(name => [name, undefined])) };
  const shop = openOrderShop({ functions });
  const { gateway, sandbox, idOf, got, events } = shop;
  const request = ALL[kind];
  await gateway.createPayment({ ...request, paymentType: kind === 'DEPOSIT' ? 'DEPOSIT' : 'WITHDRAWAL' } as never);
  for (const move of moves.split(' ')) {
    if (move === 'authorize' || move === 'cancel') {
      await sandbox[move](idOf(request.reference), { force: true });
      await whileTimePasses(sandbox.idle(), 250);
    } else await shop[move as 'pay' | 'decline'](request.reference);
  }
  expect(got).toEqual(outcomes.map(outcome => `${outcome} ${request.reference}`));
  const reasons = outcomes.flatMap(outcome => outcome.split('onReview ')[1] ?? []);
  const reviews = reasons.map(reason => ({ reason, reference: request.reference, amount: Number(request.amount) }));
  expect(await gateway.reviews()).toMatchObject(reviews);
  expect(events.flatMap(event => (event.type === 'review' ? event.reason : []))).toEqual(reasons);
});

describe('a deposit', () => {
  it('reviews a completed payment whose create the store does not know, and its later failure', async () => {
    const { sandbox, gateway, pay, decline, got } = openOrderShop();
    const stranger = new GatewayClient(sandbox.clientOptions);
    await stranger.createDeposit(DEPOSIT);
    await pay('deposit-1');
    await decline('deposit-1');
    expect(got).toEqual(['onReview unknown_reference deposit-1', 'onReview reversed deposit-1']);
    expect((await gateway.reviews()).map(({ reason }) => reason)).toEqual(['unknown_reference', 'reversed']);
  });

  it('calls no function for an authorised or failed payment whose create the store does not know', async () => {
    const { sandbox, decline, idOf, got } = openOrderShop();
    const stranger = new GatewayClient(sandbox.clientOptions);
    await stranger.createDeposit(DEPOSIT);
    await sandbox.authorize(idOf('deposit-1'));
    await decline('deposit-1');
    expect([got, sandbox.deliveries.map(({ status }) => status)]).toEqual([[], [200, 200]]);
  });

  it('is credited, and its review closed, once an operator settles its doubt with the payment', async () => {
    const folded = showing(() => 'COMPLETED');
    const { gateway, handler, pay, idOf, got } = openOrderShop({
      answer: (request, response) => (request.method === 'POST' ? Response.error() : folded(request, response)),
    });
    expect(await errorOf(gateway.createDeposit(DEPOSIT))).toMatchObject({ outcome: 'unknown' });
    await pay('deposit-1');
    await gateway.settle('deposit-1', idOf('deposit-1'), { despite: ['reference'] });
    for (const processed of [1, 0])
      expect(await gateway.upkeep({ handler, once: true, olderThan: 0 })).toMatchObject({ swept: { processed } });
    expect(got).toEqual(['onReview unknown_reference DEPOSIT-1', 'onPaid deposit-1']);
    expect(await gateway.reviews()).toEqual([]);
  });

  it('reviews a second completed payment of its reference', async () => {
    const { sandbox, gateway, pay, got } = openOrderShop();
    for (const client of [gateway, new GatewayClient(sandbox.clientOptions)]) {
      await client.createDeposit(DEPOSIT);
      await pay('deposit-1');
    }
    expect(got).toEqual(['onPaid deposit-1', 'onReview already_paid deposit-1']);
  });

  it('is credited and reversed in turn by a record that changes during each lookup', async () => {
    let lookups = 0;
    const answer = showing(() => (++lookups % 2 === 1 ? 'COMPLETED' : 'FAILED'));
    const { gateway, handler, idOf, got } = openOrderShop({ answer });
    await gateway.createDeposit(DEPOSIT);
    for (let index = 0; index < 5; index++) {
      const { status } = await whileTimePasses(handler(callbackOf(idOf('deposit-1'))), 250);
      expect([200, 503]).toContain(status);
    }
    expect(lookups).toBeGreaterThan(5);
    expect(got[0]).toBe('onPaid deposit-1');
    // No credit follows a credit, and no reversal a reversal.
    expect(got.filter((call, index) => call === got[index - 1])).toEqual([]);
  });

  it('reviews a status that the document does not name', async () => {
    const { gateway, handler, got, idOf } = openOrderShop({ answer: showing(() => 'REFUNDED') });
    await gateway.createDeposit(DEPOSIT);
    await handler(callbackOf(idOf('deposit-1')));
    expect(got).toEqual(['onReview unknown_status deposit-1']);
    expect(await gateway.reviews()).toMatchObject([{ id: idOf('deposit-1'), status: 'REFUNDED' }]);
  });
});

it.each([
  ['authorize', 'DEPOSIT'],
  ['fail', 'DEPOSIT'],
  ['fail', 'PAYOUT'],
] as const)('no function gets the %s of a second %s that its reference has elsewhere', async (move, kind) => {
  const { sandbox, gateway, idOf, got } = openOrderShop();
  const request = { ...ALL[kind], paymentType: kind === 'DEPOSIT' ? 'DEPOSIT' : 'WITHDRAWAL' } as never;
  for (const client of [gateway, new GatewayClient(sandbox.clientOptions)]) await client.createPayment(request);
  await sandbox[move](idOf(ALL[kind].reference), { force: true });
  await whileTimePasses(sandbox.idle(), 250);
  expect(got).toEqual([]);
});

it('a payout that another payment paid out is not owed again after its own failure', async () => {
  const { sandbox, gateway, pay, idOf, got } = openOrderShop();
  await gateway.createWithdrawal(PAYOUT);
  const own = idOf('payout-1');
  await new GatewayClient(sandbox.clientOptions).createWithdrawal(PAYOUT);
  await pay('payout-1');
  await sandbox.fail(own, { force: true });
  await whileTimePasses(sandbox.idle(), 250);
  expect(got).toEqual(['onPaidOut payout-1']);
});

it('onPayment gets each new status, and alone it sends no ordinary outcome to review', async () => {
  const statuses: string[] = [];
  const none = Object.fromEntries(FUNCTIONS.map(name => [name, undefined]));
  const onPayment = (payment: Payment) => void statuses.push(payment.paymentStatus);
  const { gateway, handler, pay, decline, idOf } = openOrderShop({ functions: { ...none, onPayment } });
  await gateway.createDeposit(DEPOSIT);
  await handler(callbackOf(idOf('deposit-1')));
  for (const move of [pay, decline]) await move('deposit-1');
  await handler(callbackOf(idOf('deposit-1')));
  expect(statuses).toEqual(['PENDING', 'COMPLETED', 'FAILED']);
  expect(await gateway.reviews()).toEqual([]);
});

it('resolveReview closes one review, and refuses one that is not open', async () => {
  const { gateway, pay, idOf } = openOrderShop({ functions: { onPaid: undefined } });
  await gateway.createDeposit(DEPOSIT);
  await pay('deposit-1');
  const noReview = async (status: string) => {
    const error = await errorOf(gateway.resolveReview(idOf('deposit-1'), status));
    expect(error).toMatchObject({ name: 'InvalidRequestError' });
    expect(String(error)).toContain(`id: has no open review with the status "${status}"`);
  };
  await noReview('FAILED');
  await gateway.resolveReview(idOf('deposit-1').toUpperCase(), 'COMPLETED');
  expect(await gateway.reviews()).toEqual([]);
  await noReview('COMPLETED');
});

it('a failure that came before an operator settled the doubt of its payout is reported once it is settled', async () => {
  const statuses: string[] = [];
  const onPayment = (payment: Payment) => void statuses.push(payment.paymentStatus);
  // The answer is lost, and the gateway rounds the amount.
  const answer = async (request: Request, response: Response) => {
    if (request.method === 'POST') return new Response('', { status: 502 });
    const { result } = (await response.json()) as { result: object };
    return Response.json({ result: { ...result, amount: 119 } });
  };
  const { gateway, handler, decline, idOf, got } = openOrderShop({ answer, functions: { onPayment } });
  await errorOf(gateway.createWithdrawal(PAYOUT));
  await decline('payout-1');
  expect([got, statuses]).toEqual([[], ['FAILED']]);
  await gateway.settle('payout-1', idOf('payout-1'), { despite: ['amount'] });
  for (let round = 0; round < 2; round++)
    await whileTimePasses(gateway.upkeep({ handler, once: true, olderThan: 0 }), 250);
  expect([got, statuses]).toEqual([['onPayoutFailed payout-1'], ['FAILED']]);
});
