import { GatewayClient, type Payment } from 'payment-gateway-sdk';
import { beforeEach, describe, expect, it } from 'vitest';
import { FUNCTIONS } from '../../src/webhooks/functions.ts';
import { errorOf } from '../support/fixtures.ts';
import { CARD_ORDER, openOrderShop } from '../support/order-shop.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';

beforeEach(fakeTimers);

const DEPOSIT = { ...CARD_ORDER, reference: 'deposit-1' } as const;
const PAYOUT = { ...CARD_ORDER, paymentMethod: 'SEPA', amount: '120.00', reference: 'payout-1' } as const;

const callbackOf = (id: string) =>
  new Request('https://shop.example/callbacks', { method: 'POST', body: JSON.stringify({ id }) });

describe('the outcome of a deposit without an order', () => {
  it('is onPaid once, and onReversed after a chargeback', async () => {
    const { gateway, pay, decline, got } = openOrderShop();
    await gateway.createDeposit(DEPOSIT);
    await pay('deposit-1');
    await decline('deposit-1');
    expect(got).toEqual(['onPaid deposit-1', 'onReversed deposit-1']);
  });

  it('is onDeclined, onPaid, onReversed for FAILED, COMPLETED, FAILED', async () => {
    const { gateway, pay, decline, got } = openOrderShop();
    await gateway.createDeposit(DEPOSIT);
    for (const move of [decline, pay, decline]) await move('deposit-1');
    expect(got).toEqual(['onDeclined deposit-1', 'onPaid deposit-1', 'onReversed deposit-1']);
  });

  it('is onAuthorized before onPaid', async () => {
    const { gateway, sandbox, idOf, pay, got } = openOrderShop();
    await gateway.createDeposit(DEPOSIT);
    await sandbox.authorize(idOf('deposit-1'));
    await sandbox.idle();
    await pay('deposit-1');
    expect(got).toEqual(['onAuthorized deposit-1', 'onPaid deposit-1']);
  });

  it.each([
    ['onPaid', 'paid', ['pay']],
    ['onReversed', 'reversed', ['pay', 'decline']],
  ] as const)('goes to review without %s', async (name, reason, moves) => {
    const shop = openOrderShop({ functions: { [name]: undefined } });
    await shop.gateway.createDeposit(DEPOSIT);
    for (const move of moves) await shop[move]('deposit-1');
    expect(shop.got.at(-1)).toBe(`onReview ${reason} deposit-1`);
    expect(await shop.gateway.reviews()).toMatchObject([{ reason, reference: 'deposit-1', amount: 25.5 }]);
    expect(shop.events).toContainEqual(expect.objectContaining({ type: 'review', reason, reference: 'deposit-1' }));
  });

  it('reviews a completed payment whose create the store does not know, and its later failure', async () => {
    const { sandbox, gateway, pay, decline, got } = openOrderShop();
    const stranger = new GatewayClient(sandbox.clientOptions);
    await stranger.createDeposit(DEPOSIT);
    await pay('deposit-1');
    await decline('deposit-1');
    expect(got).toEqual(['onReview unknown_reference deposit-1', 'onReview reversed deposit-1']);
    expect((await gateway.reviews()).map(({ reason }) => reason)).toEqual(['unknown_reference', 'reversed']);
  });

  it('is credited and reversed in turn by a record that changes during each lookup', async () => {
    let lookups = 0;
    const answer = async (request: Request, response: Response) => {
      if (request.method !== 'GET') return response;
      lookups += 1;
      const paymentStatus = lookups % 2 === 1 ? 'COMPLETED' : 'FAILED';
      const { result } = (await response.json()) as { result: object };
      return Response.json({ result: { ...result, paymentStatus } });
    };
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
    const answer = async (request: Request, response: Response) =>
      request.method === 'GET'
        ? Response.json({
            result: { ...((await response.json()) as { result: object }).result, paymentStatus: 'REFUNDED' },
          })
        : response;
    const { gateway, handler, got, idOf } = openOrderShop({ answer });
    await gateway.createDeposit(DEPOSIT);
    await handler(callbackOf(idOf('deposit-1')));
    expect(got).toEqual(['onReview unknown_status deposit-1']);
    expect(await gateway.reviews()).toMatchObject([{ id: idOf('deposit-1'), status: 'REFUNDED' }]);
  });
});

describe('the outcome of a withdrawal', () => {
  it('is onPaidOut, and onPayoutFailed with wasPaidOut if it comes back', async () => {
    const failures: boolean[] = [];
    const { gateway, pay, decline, got } = openOrderShop({
      functions: { onPayoutFailed: ({ wasPaidOut }) => void failures.push(wasPaidOut) },
    });
    await gateway.createWithdrawal(PAYOUT);
    await pay('payout-1');
    await decline('payout-1');
    expect([got, failures]).toEqual([['onPaidOut payout-1'], [true]]);
  });

  it('is onPayoutFailed, and a later COMPLETED goes to review', async () => {
    const { gateway, pay, decline, got } = openOrderShop();
    await gateway.createWithdrawal(PAYOUT);
    await decline('payout-1');
    await pay('payout-1');
    expect(got).toEqual(['onPayoutFailed payout-1', 'onReview paid_again payout-1']);
  });

  it('is ignored without onPaidOut, and goes to review without onPayoutFailed', async () => {
    const { gateway, pay, decline, got } = openOrderShop({
      functions: { onPaidOut: undefined, onPayoutFailed: undefined },
    });
    await gateway.createWithdrawal(PAYOUT);
    await pay('payout-1');
    expect(await gateway.find('payout-1')).toMatchObject({ payment: { paymentStatus: 'COMPLETED' } });
    await decline('payout-1');
    expect(got).toEqual(['onReview payout_failed payout-1']);
  });
});

describe('onPayment', () => {
  it('gets each new status, and alone it sends no ordinary outcome to review', async () => {
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
});

describe('resolveReview', () => {
  it('closes one review, and refuses one that is not open', async () => {
    const { gateway, pay, idOf } = openOrderShop({ functions: { onPaid: undefined } });
    await gateway.createDeposit(DEPOSIT);
    await pay('deposit-1');
    await gateway.resolveReview(idOf('deposit-1').toUpperCase(), 'COMPLETED');
    expect(await gateway.reviews()).toEqual([]);
    const error = await errorOf(gateway.resolveReview(idOf('deposit-1'), 'COMPLETED'));
    expect(error).toMatchObject({ name: 'InvalidRequestError' });
  });
});
