// The main job, end to end: a merchant's shop and the sandbox gateway, over real HTTP on this machine.
import assert from 'node:assert/strict';
import {
  ConnectionError,
  type Created,
  createdAt,
  type DepositRequest,
  fundsNotDelivered,
  GatewayClient,
  isPaid,
  memoryJournal,
  type OnrampDeposit,
  type Payment,
  PaymentInDoubtError,
  PaymentNotFoundError,
  parseWebhook,
  type WithdrawalRequest,
} from 'payment-gateway-sdk';
import { type PaymentRecord, Sandbox } from 'payment-gateway-sdk/sandbox';
import { calledBack, closing, done, failed, received, sent, step, title } from './screen.ts';
import { openShop } from './shop.ts';

const sandbox = new Sandbox({ terminal: 'onramp' });
const server = await sandbox.listen();
let answered = '';
const journal = memoryJournal({ scope: 'demo' }); // one payment per reference; in production postgresJournal
const openGateway = () =>
  new GatewayClient({
    ...server.clientOptions,
    journal,
    onEvent: event => {
      if (event.type === 'response') answered = `${event.status} in ${Math.round(event.attemptMs)} ms`;
    },
  });
const gateway = openGateway();
const shop = await openShop(gateway);
const common = { webhookUrl: shop.callbackUrl, returnUrl: 'https://shop.example/thanks' };

async function play(): Promise<void> {
  step('A card deposit: the customer is redirected, and pays');
  const card = await deposit({
    paymentMethod: 'CARD',
    amount: '25.50',
    currency: 'EUR',
    reference: 'order-1',
    ...common,
  });
  assert.equal(card.nextAction.type, 'redirect');
  const paid = await outcomeOf(card.payment, id => sandbox.complete(id));
  assert(paid.paymentType === 'DEPOSIT' && isPaid(paid));
  done(`Paid: ${paid.amount} ${paid.currency} for order-1.`);

  step('A PayID deposit, host to host: the shop itself shows how to transfer the money');
  const payid = await deposit({
    paymentMethod: 'PAYID',
    amount: '80.00',
    currency: 'AUD',
    reference: 'order-2',
    ...common,
  });
  assert(payid.nextAction.type === 'transfer' && payid.nextAction.transfer.amount === '80.00');
  assert(isPaid(await outcomeOf(payid.payment, id => sandbox.complete(id))));
  done('The transfer has arrived.');

  step('An Apple Pay deposit: authorised first, captured later');
  const apple = await deposit({
    paymentMethod: 'APPLEPAY',
    amount: '12.99',
    currency: 'USD',
    reference: 'order-3',
    billingAddress: { countryCode: 'US', postalCode: '94016' },
    customer: { email: 'zoe@customer.example', ipaddress: '203.0.113.7' },
    ...common,
  });
  assert(!isPaid(await outcomeOf(apple.payment, id => sandbox.authorize(id))));
  assert(isPaid(await outcomeOf(apple.payment, id => sandbox.complete(id))));
  done('AUTHORIZED was no money yet; COMPLETED is.');

  step('A BLIK deposit, with its purpose');
  const blik = await deposit({
    paymentMethod: 'BLIK',
    amount: '149.00',
    currency: 'PLN',
    reference: 'order-4',
    additionalParameters: { purpose: 'Zakup biletów' },
    ...common,
  });
  assert(isPaid(await outcomeOf(blik.payment, id => sandbox.complete(id))));
  done('Paid.');

  step('An on-ramp deposit: the customer pays reais, and is settled in crypto');
  const wallet = '0x71c7656ec7ab88b098defb751b7401b5f6d8976f';
  const onramp = await deposit({
    paymentMethod: 'ONRAMP_PIX',
    amount: '540.00',
    currency: 'BRL',
    reference: 'order-5',
    additionalParameters: { destination_wallet: wallet, cryptoCurrency: 'USDT' },
    ...common,
  });
  const settled = await outcomeOf(onramp.payment, id => sandbox.complete(id));
  assert(isPaid(settled) && settled.destination_wallet === wallet && settled.settled_crypto_amount);
  assert(typeof settled.cryptoAmount === 'string' && /^\d+\.\d{8}$/.test(settled.cryptoAmount));
  done(`Settled: ${settled.settled_crypto_amount} ${settled.cryptoCurrency} to ${settled.destination_wallet}.`);

  step('A SEPA withdrawal: the shop pays a customer');
  const payout = await withdrawal({
    paymentMethod: 'SEPA',
    amount: '120.00',
    currency: 'EUR',
    reference: 'payout-6',
    customer: { firstName: 'Zoë', lastName: 'Müller' },
    ...common,
  });
  assert.equal(payout.nextAction.type, 'wait');
  const paidOut = await outcomeOf(payout.payment, id => sandbox.complete(id));
  assert(paidOut.paymentType === 'WITHDRAWAL' && isPaid(paidOut));
  done('Paid out. isPaid is true of it too, so the shop looks at paymentType before it credits anyone.');

  step('A deposit that fails: the processor said 4004');
  const declined = await deposit({
    paymentMethod: 'CARD',
    amount: '9000',
    currency: 'EUR',
    reference: 'order-7',
    ...common,
  });
  const failure = await outcomeOf(declined.payment, id => sandbox.fail(id, { code: 4004 }));
  assert(failure.paymentStatus === 'FAILED' && failure.errorMessage === 'Insufficient balance');
  assert(fundsNotDelivered(failure));
  done('The code came back as words for people; FAILED without a crypto_tx_hash says that no funds moved.');

  step('An id that the gateway does not know');
  const unknown = '00000000-0000-4000-8000-000000000000';
  sent('getPayment', { id: unknown });
  const notFound = await errorOf(gateway.getPayment(unknown));
  received(answered);
  assert(notFound instanceof PaymentNotFoundError && notFound.status === 404);
  done(`${notFound.name}: ${notFound.message}`);

  step('A payout whose answer is cut off after the gateway took it, and which the shop tries again');
  sandbox.faults.next('commit-then-cut');
  const request = {
    ...common,
    paymentMethod: 'SEPA',
    amount: '75.00',
    currency: 'EUR',
    reference: 'payout-9',
  } as const;
  sent('createWithdrawal', request);
  const cut = await errorOf(gateway.createWithdrawal(request));
  assert(cut instanceof ConnectionError && cut.outcome === 'unknown' && cut.paymentId);
  received(`${cut.name}`, { code: cut.code, outcome: cut.outcome, paymentId: cut.paymentId });
  done(cut.message);
  const retried = await withdrawal(request);
  assert(retried.replayed && retried.payment.id === cut.paymentId);
  assert.equal(paymentsOf('payout-9'), 1);
  done('The half of the answer that arrived held the id, so the journal found the payout: no second one was sent.');
  assert(isPaid(await outcomeOf(retried.payment, id => sandbox.complete(id))));
  done('Paid out, once.');

  step('A payout whose answer never comes');
  sandbox.faults.next('commit-then-drop');
  const lost = { ...request, reference: 'payout-10' };
  sent('createWithdrawal', lost);
  const dropped = await errorOf(gateway.createWithdrawal(lost));
  assert(dropped instanceof ConnectionError && dropped.outcome === 'unknown' && !dropped.paymentId);
  received(dropped.name, { code: dropped.code, outcome: dropped.outcome });
  sent('createWithdrawal, again', lost);
  const doubt = await errorOf(gateway.createWithdrawal(lost));
  assert(doubt instanceof PaymentInDoubtError);
  received(doubt.name);
  done(doubt.message);
  const [taken] = sandbox.payments.filter(payment => payment.reference === 'payout-10');
  assert(taken && isPaid(await outcomeOf(taken, id => sandbox.complete(id))));
  const settledNow = await withdrawal(lost);
  assert(settledNow.replayed && settledNow.payment.id === taken.id);
  assert.equal(paymentsOf('payout-10'), 1);
  done('The callback has settled the doubt, and the same call gets the payout that was made.');

  step('A page that is loaded twice creates its deposit twice, after the callback of the first');
  const order = {
    ...common,
    paymentMethod: 'P24',
    amount: '35.00',
    currency: 'PLN',
    reference: 'order-11',
  } as const;
  const first = await deposit(order);
  await outcomeOf(first.payment, id => sandbox.authorize(id));
  const second = await deposit(order);
  assert(second.replayed && first.nextAction.type === 'redirect');
  assert.deepEqual(second.nextAction, first.nextAction);
  assert.equal(paymentsOf('order-11'), 1);
  done('One payment, and the customer is sent to the same page.');

  step('A shop that crashes between its order and the create: the outbox');
  const owed = { ...request, paymentType: 'WITHDRAWAL', reference: 'payout-12' } as const;
  sent('journal.plan, in the transaction of the order', owed);
  const planned = await journal.plan('the transaction', owed);
  assert(planned.state === 'planned' && paymentsOf('payout-12') === 0);
  received('planned');
  done('The order is committed, and nothing was sent. Here the shop crashes.');
  const restarted = openGateway();
  for (const run of ['drain, after the restart', 'drain, in another replica']) {
    sent(run);
    received('drained', await restarted.drain());
  }
  assert.equal(paymentsOf('payout-12'), 1);
  done('One payout, whoever drains. In production postgresJournal: the plan is a row of your own transaction.');

  step('A callback that never comes: the sweep');
  sandbox.faults.next('callback-lose');
  const [lostOne] = sandbox.payments.filter(payment => payment.reference === 'payout-12');
  assert(lostOne);
  const effect = shop.effectOf(lostOne.id, 'COMPLETED');
  await sandbox.complete(lostOne.id);
  await sandbox.idle();
  received('no callback: it was lost');
  sent('sweep', { olderThan: 0 });
  const swept = await gateway.sweep({ handler: shop.handler, olderThan: 0 });
  received('swept', swept);
  assert((await inTime(effect, 'the sweep')).paymentStatus === 'COMPLETED');
  assert.deepEqual((await gateway.sweep({ handler: shop.handler, olderThan: 0 })).processed, 0);
  done('The payment took effect as its callback would have let it. Once: the next sweep finds nothing.');
}

/** Counts the gateway's payments of a reference. */
const paymentsOf = (reference: string): number =>
  sandbox.payments.filter(payment => payment.reference === reference).length;

async function deposit(request: DepositRequest | OnrampDeposit): Promise<Created> {
  sent('createDeposit', request);
  return show(await gateway.createDeposit(request));
}

async function withdrawal(request: WithdrawalRequest): Promise<Created> {
  sent('createWithdrawal', request);
  return show(await gateway.createWithdrawal(request));
}

function show(created: Created): Created {
  const { payment, nextAction, replayed } = created;
  received(`${replayed ? 'from the journal' : answered}: ${payment.paymentStatus}`, {
    id: payment.id,
    created: createdAt(payment)?.toISOString(),
    crypto: payment.cryptoAmount && `${payment.cryptoAmount} ${payment.cryptoCurrency}`,
    'next action': nextAction.type,
    ...(nextAction.type === 'redirect' && { 'customer goes to': nextAction.redirectUrl }),
    ...(nextAction.type === 'transfer' && {
      'customer pays': `${nextAction.transfer.amount} ${nextAction.transfer.currency}`,
      'to the PayID': `${nextAction.transfer.number} (${nextAction.transfer.full_holder_name})`,
      'with the code': nextAction.transfer.payment_description,
    }),
  });
  return created;
}

/** The customer or the processor acts, the callback arrives, and the shop confirms it by a lookup. */
async function outcomeOf({ id }: { id: string }, act: (id: string) => Promise<PaymentRecord>): Promise<Payment> {
  const { paymentStatus } = await act(id);
  const payment = await inTime(shop.effectOf(id, paymentStatus), `the callback of ${id}`);
  await sandbox.idle();
  const delivery = sandbox.deliveries.findLast(({ paymentId }) => paymentId === id);
  assert(delivery?.status === 200 && payment.paymentStatus === paymentStatus);
  const claim = parseWebhook(delivery.body);
  const reason = 'errorMessage' in payment ? payment.errorMessage : undefined;
  calledBack(claim.paymentStatus, {
    'it claims': `${claim.amount} ${claim.currency} for ${claim.reference}`,
    'a lookup says': [payment.paymentStatus, reason].filter(Boolean).join(': '),
    'shop answers': delivery.status,
  });
  return payment;
}

const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => assert.fail('It should have failed.'),
    error => error,
  );

/** Limits a wait, so that the demo ends even without a callback. */
function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Waited 10 s for ${what}.`)), 10_000);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

title('payment-gateway-sdk', `gateway ${server.url}   shop ${shop.callbackUrl}`);
try {
  await play();
  closing('Every step did what it says.');
} catch (error) {
  failed(error);
  process.exitCode = 1;
} finally {
  shop.close();
  await server.close();
}
