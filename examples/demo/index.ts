// A shop and its gateway in twelve scenes, over real HTTP on this machine. Each scene checks its own end.
import assert from 'node:assert/strict';
import type { Checkout, CheckoutRequest } from 'payment-gateway-sdk';
import { type PaymentRecord, Sandbox } from 'payment-gateway-sdk/sandbox';
import { closing, done, failed, says, scene, title } from './screen.ts';
import { openShop } from './shop.ts';

const sandbox = new Sandbox();
const server = await sandbox.listen();
/** The functions of the handler that ran in this scene. */
let ran: string[] = [];
const { gateway, handler, webhookUrl, paid, owed, close } = await openShop(server.clientOptions, call =>
  ran.push(call),
);

const CARD = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' } as const;
const IDEAL = { ...CARD, paymentMethod: 'IDEAL' } as const;
const PAYID = { paymentMethod: 'PAYID', amount: '79.60', currency: 'AUD' } as const;

const SCENES: Record<string, () => Promise<string>> = {
  'A customer pays by card': async () => {
    await pay('order-1', CARD, 'redirect');
    await complete('order-1.1');
    expectRan('onPaid(order-1)');
    return 'The order is paid. The callback only names the payment: the SDK looked it up.';
  },

  'A double click': async () => {
    const [one, two] = await Promise.all([pay('order-2', CARD, 'redirect'), pay('order-2', CARD, 'redirect')]);
    assert.equal(one, two);
    expectPayments('order-2', 1);
    await complete('order-2.1');
    expectRan('onPaid(order-2)');
    return 'Both clicks lead to the same page. There is one payment.';
  },

  'A card is declined, and the customer tries again': async () => {
    await pay('order-3', CARD, 'redirect');
    await act('order-3.1', 'FAILED', id => sandbox.fail(id, { code: 4004 }));
    await pay('order-3', CARD, 'redirect');
    await complete('order-3.2');
    expectRan('onDeclined(order-3)', 'onPaid(order-3)');
    return 'The second attempt has its own payment, and pays the order.';
  },

  'A customer changes the method, and pays both': async () => {
    await pay('order-4', CARD, 'redirect');
    await pay('order-4', IDEAL, 'redirect');
    await complete('order-4.2');
    await complete('order-4.1');
    expectRan('onPaid(order-4)', 'onReview(order-4.1, already_paid)');
    return 'One payment pays the order. A person pays the other one back.';
  },

  'A chargeback': async () => {
    await act('order-1.1', 'FAILED', id => sandbox.fail(id, { reason: 'Chargeback', force: true }));
    assert(!paid.has('order-1'));
    await pay('order-1', CARD, 'redirect');
    await complete('order-1.2');
    expectRan('onReversed(order-1)', 'onPaid(order-1)');
    return 'The order was open again, and a new payment pays it.';
  },

  'A payout, owed in the transaction that marks an order as paid': async () => {
    owed.set('order-6', 'payout-6');
    await pay('order-6', CARD, 'redirect');
    await complete('order-6.1');
    expectPayments('payout-6', 0);
    await upkeep({ created: 1 });
    await complete('payout-6');
    expectRan('onPaid(order-6)', 'gateway.payOut(tx, payout-6)', 'onPaidOut(payout-6)');
    return 'The payout is committed with the order, or not at all. It is sent once, after the commit.';
  },

  'The bank returns the payout': async () => {
    await act('payout-6', 'FAILED', id => sandbox.fail(id, { reason: 'Account closed', force: true }));
    expectRan('onPayoutFailed(payout-6, wasPaidOut: true)');
    return 'The shop knows that it owes the money again.';
  },

  'A callback gets lost': async () => {
    await pay('order-8', CARD, 'redirect');
    sandbox.faults.next('callback-lose');
    await complete('order-8.1');
    expectRan();
    await upkeep({ processed: 1 });
    expectRan('onPaid(order-8)');
    return 'Upkeep found the payment, and ran the same function once.';
  },

  'The connection breaks after the gateway took the payment': async () => {
    sandbox.faults.next('commit-then-drop');
    await pay('order-9', CARD, 'checking');
    assert.equal((await gateway.doubts()).length, 1);
    await complete('order-9.1');
    expectRan('onPaid(order-9)');
    expectPayments('order-9', 1);
    assert.deepEqual(await gateway.doubts(), []);
    return 'No second payment was sent. The callback settled the unknown outcome.';
  },

  'A forged callback': async () => {
    await pay('order-10', CARD, 'redirect');
    const { id } = paymentOf('order-10.1');
    const body = JSON.stringify({ ...paymentOf('order-10.1'), id, paymentStatus: 'COMPLETED' });
    const { status } = await fetch(webhookUrl, { method: 'POST', body });
    says('stranger', 'posts a callback: order-10.1 is COMPLETED', `the shop answers ${status}`);
    assert.equal(status, 503);
    expectRan();
    return 'The lookup shows a pending payment. The order stays open.';
  },

  'A basket grows, and the customer transfers the old amount by PayID': async () => {
    await pay('order-11', PAYID, 'transfer');
    await pay('order-11', { ...PAYID, amount: '95.00' }, 'transfer');
    await complete('order-11.1');
    expectRan('onReview(order-11.1, amount_differs)');
    assert.equal((await gateway.order('order-11'))?.state, 'open');
    return 'The order is not paid. A person decides.';
  },

  'An operator closes the reviews': async () => {
    const reviews = await gateway.reviews();
    for (const { id, reference, amount, currency, reason, status } of reviews) {
      await gateway.resolveReview(id, status);
      says('operator', `pays back ${amount} ${currency} of ${reference}, and closes the review`, reason);
    }
    assert.deepEqual(
      reviews.map(({ reason }) => reason),
      ['already_paid', 'amount_differs'],
    );
    assert.deepEqual(await gateway.reviews(), []);
    return 'Nothing is left to check.';
  },
};

/** The customer presses "pay". @returns the address of the payment's page */
async function pay(order: string, request: CheckoutRequest, expected: Checkout['state']): Promise<string | undefined> {
  const { paymentMethod, amount, currency } = request;
  const checkout = await gateway.checkout(order, { ...request, returnUrl: 'https://shop.example/thanks' });
  says('customer', `presses "pay" for ${order}: ${paymentMethod}, ${amount} ${currency}`, checkout.state);
  assert.equal(checkout.state, expected);
  return checkout.state === 'redirect' ? checkout.redirectUrl : undefined;
}

/** The payment changes at the gateway, and its callback is handled. */
async function act(reference: string, status: string, move: (id: string) => Promise<PaymentRecord>): Promise<void> {
  await showing(async () => {
    await move(paymentOf(reference).id);
    await sandbox.idle();
    const answer = sandbox.deliveries.at(-1)?.status;
    says('gateway', `posts a callback: ${reference} is ${status}`, answer ? `the shop answers ${answer}` : 'lost');
    assert(answer === undefined || answer === 200);
  });
}

const complete = (reference: string) => act(reference, 'COMPLETED', id => sandbox.complete(id));

/** Upkeep, as a worker or a cron job runs it. */
async function upkeep(expected: { created?: number; processed?: number }): Promise<void> {
  await showing(async () => {
    const { sent, swept } = await gateway.upkeep({ handler, once: true, olderThan: 0 });
    says('shop', 'runs its upkeep', `payouts sent: ${sent.created}, payments found: ${swept.processed}`);
    const { created = 0, processed = 0 } = expected;
    assert.deepEqual([sent.created, swept.processed], [created, processed]);
  });
}

/** Shows the functions of the handler that ran meanwhile. */
async function showing(work: () => Promise<void>): Promise<void> {
  const before = ran.length;
  await work();
  for (const call of ran.slice(before)) says('shop', call);
}

function paymentOf(reference: string): PaymentRecord {
  const payment = sandbox.payments.find(payment => payment.reference === reference);
  assert(payment, `The gateway has no payment ${reference}.`);
  return payment;
}

/** Checks how many payments the gateway has of an order or a payout. */
const expectPayments = (id: string, count: number) =>
  assert.equal(sandbox.payments.filter(({ reference }) => reference?.replace(/\.\d+$/, '') === id).length, count);

const expectRan = (...calls: string[]) => assert.deepEqual(ran, calls);

title('payment-gateway-sdk', 'a shop, its gateway, and everything that goes wrong between them');
const late = setTimeout(() => {
  failed(new Error('The demo did not end within 60 s.'));
  process.exit(1);
}, 60_000);
try {
  for (const [name, play] of Object.entries(SCENES)) {
    scene(name);
    ran = [];
    done(await play());
  }
  closing('Every scene ended as it says.');
} catch (error) {
  failed(error);
  process.exitCode = 1;
} finally {
  clearTimeout(late);
  close();
  await server.close();
}
