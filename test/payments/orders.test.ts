import { type Checkout, GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { describe, expect, it, vi } from 'vitest';
import { APPLE_PAY, errorOf, PAYOUT } from '../support/fixtures.ts';
import { fakeTimers } from '../support/passing-time.ts';
import { CARD_ORDER, openOrderShop } from './order-shop.ts';

const P24 = { ...CARD_ORDER, paymentMethod: 'P24', currency: 'PLN', amount: '99.00' } as const;
const BLIK = { ...P24, paymentMethod: 'BLIK' } as const;

const pageOf = (checkout: Checkout) => (checkout.state === 'redirect' ? checkout.redirectUrl : checkout.state);

describe('checkout', () => {
  it('returns the page of the first attempt, and the same page to each repeated click', async () => {
    const { gateway, references } = openOrderShop();
    const first = await gateway.checkout('order-1', CARD_ORDER);
    expect(first).toMatchObject({ state: 'redirect', payment: { reference: 'order-1.1', amount: 25.5 } });
    for (const spelled of [CARD_ORDER, { ...CARD_ORDER, amount: '25.500', currency: 'eur' }])
      expect(pageOf(await gateway.checkout('order-1', spelled))).toBe(pageOf(first));
    expect(references()).toEqual(['order-1.1']);
    const known = { id: 'order-1', state: 'open', amount: '25.5', currency: 'EUR', attempts: 1 };
    expect(await gateway.order('order-1')).toMatchObject({ ...known, payment: { paymentStatus: 'PENDING' } });
  });

  it('makes one payment of forty clicks at once over four replicas', async () => {
    const { gateway, store, sandbox, references } = openOrderShop();
    const replicas = [gateway, ...[1, 2, 3].map(() => new GatewayClient({ ...sandbox.clientOptions, store }))];
    const clicks = Array.from({ length: 40 }, (_, n) => {
      const name = { customer: { firstName: `Customer ${n}` } };
      return (replicas[n % 4] as typeof gateway).checkout('order-1', { ...CARD_ORDER, ...(n % 2 ? name : {}) });
    });
    const pages = new Set((await Promise.all(clicks)).map(pageOf));
    expect([...pages]).toEqual([expect.stringContaining('http')]);
    expect(references()).toEqual(['order-1.1']);
  });

  it('begins another attempt after a decline, and the order is paid', async () => {
    const { gateway, pay, decline, got, references } = openOrderShop();
    await gateway.checkout('order-1', CARD_ORDER);
    await decline('order-1.1');
    expect(await gateway.order('order-1')).toMatchObject({ state: 'declined', attempts: 1 });
    expect(await gateway.checkout('order-1', CARD_ORDER)).toMatchObject({ state: 'redirect' });
    await pay('order-1.2');
    const paid = { state: 'paid', payment: { paymentStatus: 'COMPLETED', reference: 'order-1.2' } };
    expect(await gateway.checkout('order-1', CARD_ORDER)).toMatchObject(paid);
    expect(await gateway.order('order-1')).toMatchObject(paid);
    expect(references()).toEqual(['order-1.1', 'order-1.2']);
    expect(got).toEqual(['onDeclined order-1 order-1.1', 'onPaid order-1 order-1.2']);
  });

  it('begins another attempt for another method, and reviews the second of two payments', async () => {
    const { gateway, pay, got, idOf } = openOrderShop();
    await gateway.checkout('order-1', P24);
    expect(await gateway.checkout('order-1', BLIK)).toMatchObject({ payment: { reference: 'order-1.2' } });
    await pay('order-1.1');
    await pay('order-1.2');
    expect(got).toEqual(['onPaid order-1 order-1.1', 'onReview already_paid order-1.2']);
    const review = { reason: 'already_paid', status: 'COMPLETED', order: 'order-1', amount: 99, currency: 'PLN' };
    expect(await gateway.reviews()).toMatchObject([{ id: idOf('order-1.2'), ...review }]);
  });

  it('is not shown as paid by the payment of its create, if another of the same reference has paid it', async () => {
    const { gateway, sandbox, pay, got } = openOrderShop();
    await gateway.checkout('order-1', CARD_ORDER);
    await new GatewayClient(sandbox.clientOptions).createDeposit({ ...CARD_ORDER, reference: 'order-1.1' });
    await pay('order-1.1');
    expect(got).toEqual(['onPaid order-1 order-1.1']);
    const order = await gateway.order('order-1');
    expect([order?.state, order?.payment]).toEqual(['paid', undefined]);
  });

  it('takes the newest amount, and reviews a payment of the old link', async () => {
    const { gateway, pay, got } = openOrderShop();
    await gateway.checkout('order-1', CARD_ORDER);
    await gateway.checkout('order-1', { ...CARD_ORDER, amount: '30.00' });
    expect(await gateway.order('order-1')).toMatchObject({ amount: '30', attempts: 2 });
    await pay('order-1.1');
    await pay('order-1.2');
    expect(got).toEqual(['onReview amount_differs order-1.1', 'onPaid order-1 order-1.2']);
    await gateway.checkout('order-2', CARD_ORDER);
    await gateway.checkout('order-2', { ...CARD_ORDER, currency: 'PLN' });
    expect(await gateway.order('order-2')).toMatchObject({ currency: 'PLN', attempts: 2 });
  });

  it.each<[clicks: number, method: string, changes: object | undefined, states: string[]]>([
    [2, 'GET', { paymentStatus: 'COMPLETED' }, ['checking', 'checking']],
    [2, 'GET', { paymentStatus: 'REFUNDED' }, ['checking', 'checking']],
    [2, 'GET', { paymentStatus: 'AUTHORIZED' }, ['pending', 'open']],
    [2, 'GET', undefined, ['redirect', 'open']],
    [1, 'POST', { paymentStatus: 'COMPLETED' }, ['checking', 'checking']],
    [1, 'POST', { paymentStatus: 'FAILED' }, ['declined', 'declined']],
    [1, 'POST', { redirectUrl: null }, ['pending', 'open']],
  ])('starts no second attempt in %i clicks if each %s shows %j', async (clicks, method, changes, states) => {
    const answer = async (request: Request, response: Response) => {
      if (request.method !== method) return response;
      if (!changes) return new Response('', { status: 503 });
      const body = (await response.json()) as { result?: object };
      Object.assign(body.result ?? body, changes);
      return Response.json(body, response);
    };
    const { gateway, references } = openOrderShop({ answer });
    let last: Checkout | undefined;
    for (let click = 0; click < clicks; click++) last = await gateway.checkout('order-1', CARD_ORDER);
    expect([last?.state, (await gateway.order('order-1'))?.state]).toEqual(states);
    expect(references()).toEqual(['order-1.1']);
  });

  it('reviews a payment of a canceled order, and starts no attempt for it', async () => {
    const { gateway, pay, got, references } = openOrderShop();
    await gateway.checkout('order-1', CARD_ORDER);
    expect(await gateway.cancelOrder('order-1')).toBe(true);
    await pay('order-1.1');
    expect(got).toEqual(['onReview order_canceled order-1.1']);
    expect(await gateway.checkout('order-1', CARD_ORDER)).toEqual({ state: 'canceled' });
    expect(references()).toEqual(['order-1.1']);
  });

  it('cancels an order before its first click, and not a paid one', async () => {
    const { gateway, pay } = openOrderShop();
    expect(await gateway.cancelOrder('order-1')).toBe(true);
    expect(await gateway.checkout('order-1', CARD_ORDER)).toEqual({ state: 'canceled' });
    expect(await gateway.order('order-1')).toMatchObject({ state: 'canceled', attempts: 0 });
    await gateway.checkout('order-2', CARD_ORDER);
    await pay('order-2.1');
    expect(await gateway.cancelOrder('order-2')).toBe(false);
  });

  it('makes an order payable again after a chargeback', async () => {
    fakeTimers();
    const { gateway, pay, decline, got } = openOrderShop();
    await gateway.checkout('order-1', CARD_ORDER);
    await pay('order-1.1');
    await decline('order-1.1');
    expect(await gateway.order('order-1')).toMatchObject({ state: 'reversed' });
    await gateway.checkout('order-1', CARD_ORDER);
    expect(await gateway.order('order-1')).toMatchObject({ state: 'open', attempts: 2 });
    await pay('order-1.2');
    await pay('order-1.1');
    expect(got).toEqual([
      'onPaid order-1 order-1.1',
      'onReversed order-1 order-1.1',
      'onPaid order-1 order-1.2',
      'onReview paid_again order-1.1',
    ]);
  });

  it('starts no second attempt beside a payment that the store knows only from its callback', async () => {
    const { gateway, sandbox, pay, references } = openOrderShop();
    await new GatewayClient(sandbox.clientOptions).createDeposit({ ...CARD_ORDER, reference: 'order-1.1' });
    await pay('order-1.1');
    for (const _ of [1, 2]) expect(await gateway.checkout('order-1', CARD_ORDER)).toMatchObject({ state: 'checking' });
    expect(references()).toEqual(['order-1.1']);
  });

  it('answers "checking" while a cut create may have made a payment, and its callback settles it', async () => {
    const { gateway, sandbox, pay, got, references } = openOrderShop();
    sandbox.faults.next('commit-then-drop');
    expect(await gateway.checkout('order-1', CARD_ORDER)).toEqual({ state: 'checking' });
    expect(await gateway.checkout('order-1', CARD_ORDER)).toEqual({ state: 'checking' });
    expect(await gateway.order('order-1')).toMatchObject({ state: 'checking' });
    await pay('order-1.1');
    expect(got).toEqual(['onPaid order-1 order-1.1']);
    expect(references()).toEqual(['order-1.1']);
  });

  it('begins another attempt at once if the page was lost with a cut answer that has named the payment', async () => {
    const { gateway, sandbox, references } = openOrderShop();
    sandbox.faults.next('commit-then-cut');
    const checkout = await gateway.checkout('order-1', CARD_ORDER);
    expect(checkout).toMatchObject({ state: 'redirect', payment: { reference: 'order-1.2' } });
    expect(references()).toEqual(['order-1.1', 'order-1.2']);
  });

  it('does so too if the record of the payment has no reference', async () => {
    const { gateway, sandbox, references } = openOrderShop({
      answer: async ({ method }, response) =>
        method === 'POST' ? response : new Response((await response.text()).replace('"order-1.1"', 'null')),
    });
    sandbox.faults.next('commit-then-cut');
    expect(await gateway.checkout('order-1', CARD_ORDER)).toMatchObject({ payment: { reference: 'order-1.2' } });
    expect(references()).toEqual(['order-1.1', 'order-1.2']);
  });

  it('begins another attempt once the time-out of a lost answer has passed, and reviews a second payment', async () => {
    let now = Date.now();
    const store = memoryStore({ now: () => now });
    const { gateway, sandbox, pay, got } = openOrderShop({ store });
    sandbox.faults.next('commit-then-drop');
    expect(await gateway.checkout('order-1', CARD_ORDER)).toEqual({ state: 'checking' });
    now += 30_001;
    expect(await gateway.checkout('order-1', CARD_ORDER)).toMatchObject({ payment: { reference: 'order-1.2' } });
    await pay('order-1.2');
    await pay('order-1.1');
    expect(got).toEqual(['onPaid order-1 order-1.2', 'onReview already_paid order-1.1']);
  });

  it.each([
    { amount: '26.00', currency: 'EUR' },
    { amount: '25.50', currency: 'PLN' },
  ])('throws a refusal, and retries under the same reference, with %j', async newest => {
    const { gateway, sandbox, references } = openOrderShop();
    sandbox.faults.next('reject-422');
    expect(await errorOf(gateway.checkout('order-1', CARD_ORDER))).toMatchObject({ outcome: 'rejected' });
    const page = await gateway.checkout('order-1', { ...CARD_ORDER, ...newest });
    const amount = Number(newest.amount);
    expect(page).toMatchObject({ payment: { ...newest, reference: 'order-1.1', amount } });
    expect(references()).toEqual(['order-1.1']);
    expect(await gateway.order('order-1')).toMatchObject({ ...newest, amount: `${amount}`, attempts: 1 });
  });

  it.each([
    ['fails', async () => Promise.reject(new Error('The database is down.')), {}, 'store_failed'],
    ['hangs', () => new Promise<never>(() => {}), { timeout: 50 }, 'store_failed'],
    ['hangs', () => new Promise<never>(() => {}), { signal: AbortSignal.timeout(50) }, 'aborted'],
  ])('ends, and has sent nothing, if the store %s', async (_, write, options, code) => {
    const { gateway, references } = openOrderShop({ store: { ...memoryStore(), write } });
    const error = await errorOf(gateway.checkout('order-1', CARD_ORDER, options));
    expect(error).toMatchObject({ code, outcome: 'not_sent' });
    expect(references()).toEqual([]);
  });

  it('answers "checking" if the store fails after a cut answer that has named the payment', async () => {
    const memory = memoryStore();
    const read: typeof memory.read = async key =>
      key.kind === 'order' ? Promise.reject(new Error()) : memory.read(key);
    const { gateway, sandbox } = openOrderShop({ store: { ...memory, read } });
    sandbox.faults.next('commit-then-cut');
    expect(await gateway.checkout('order-1', CARD_ORDER)).toEqual({ state: 'checking' });
  });

  it('returns the known page if the lookup takes longer than the call', async () => {
    const { gateway, sandbox } = openOrderShop();
    const first = await gateway.checkout('order-1', CARD_ORDER);
    sandbox.faults.next('slow', { on: 'lookup', ms: 8_000 });
    fakeTimers();
    const pages: string[] = [];
    void gateway.checkout('order-1', CARD_ORDER, { timeout: 500 }).then(page => pages.push(pageOf(page)));
    await vi.advanceTimersByTimeAsync(600);
    expect(pages).toEqual([pageOf(first)]);
  });

  it.each<[string, (shop: ReturnType<typeof openOrderShop>, reference: string) => Promise<unknown>]>([
    ['a deposit', ({ gateway }, reference) => gateway.createDeposit({ ...CARD_ORDER, reference })],
    ['a running one', async ({ gateway }, reference) => void gateway.createDeposit({ ...CARD_ORDER, reference })],
    [
      'a payout',
      ({ gateway, pay }, reference) => gateway.createWithdrawal({ ...PAYOUT, reference }).then(() => pay(reference)),
    ],
    ['a planned payout', ({ gateway }, reference) => gateway.payOut({}, { ...PAYOUT, reference })],
  ])('takes another reference if %s has its own', async (_, createOther) => {
    const shop = openOrderShop();
    await createOther(shop, 'order-1.1');
    expect(await shop.gateway.checkout('order-1', CARD_ORDER)).toMatchObject({ payment: { reference: 'order-1.2' } });
    await shop.pay('order-1.2');
    expect(shop.got).toContain('onPaid order-1 order-1.2');
    expect(await shop.gateway.order('order-1')).toMatchObject({ state: 'paid' });
  });

  it('shows the instructions of a PayID transfer, and reviews a transfer of another amount', async () => {
    let paid = 80;
    const answer = async (request: Request, response: Response) => {
      if (request.method !== 'GET' || paid === 80) return response;
      const body = (await response.json()) as { result?: object };
      Object.assign(body.result ?? body, { amount: paid });
      return Response.json(body);
    };
    const { gateway, pay, got } = openOrderShop({ answer });
    const payid = { ...CARD_ORDER, paymentMethod: 'PAYID', amount: '80.00', currency: 'AUD' } as const;
    const transfer = { number: expect.any(String) };
    expect(await gateway.checkout('order-1', payid)).toMatchObject({ state: 'transfer', transfer });
    paid = 79;
    await pay('order-1.1');
    expect(got).toEqual(['onReview amount_differs order-1.1']);
  });

  it.each(['', 'é'.repeat(101), 'order\n1', 7])('refuses the order id %j', async orderId => {
    const { gateway } = openOrderShop();
    const id = orderId as string;
    const { checkout, order, cancelOrder } = gateway;
    for (const call of [() => checkout(id, CARD_ORDER), () => order(id), () => cancelOrder(id)]) {
      const error = await errorOf(call());
      expect(error).toMatchObject({ name: 'InvalidRequestError', outcome: 'not_sent' });
      expect(String(error)).toContain('a string of 1 to 200 bytes of UTF-8 without control characters');
    }
  });

  it('makes an attempt by Apple Pay, and one of a request that inherits its fields', async () => {
    const { gateway, references } = openOrderShop();
    const { reference, ...applePay } = APPLE_PAY;
    expect(await gateway.checkout('order-1', applePay)).toHaveProperty('payment.paymentMethod', 'APPLEPAY');
    expect(await gateway.checkout('order-2', Object.create(CARD_ORDER))).toMatchObject({ state: 'redirect' });
    expect(references()).toEqual(['order-1.1', 'order-2.1']);
  });

  it('sends extra fields, and stops its create by the signal', async () => {
    const { gateway, sandbox } = openOrderShop();
    await gateway.checkout('order-1', CARD_ORDER, { extra: { branch: 'Wien' } });
    expect(Buffer.from(sandbox.calls[0]?.body ?? []).toString()).toContain('"branch":"Wien"');
    sandbox.faults.next('slow', { on: 'create', ms: 9_000 });
    const stop = new AbortController();
    const page = gateway.checkout('order-2', CARD_ORDER, { signal: stop.signal });
    await vi.waitFor(() => expect(sandbox.payments).toHaveLength(2));
    stop.abort();
    expect(await page).toEqual({ state: 'checking' });
  });

  it('refuses an amount of 0, and a reference, before anything is written', async () => {
    const { gateway } = openOrderShop();
    const zero = await errorOf(gateway.checkout('order-1', { ...CARD_ORDER, amount: 0 }));
    expect(String(zero)).toContain('amount: must be greater than 0');
    const own = await errorOf(gateway.checkout('order-1', { ...CARD_ORDER, reference: 'order-1.1' } as never));
    expect(String(own)).toContain('the order id determines it');
    expect(await gateway.order('order-1')).toBeUndefined();
  });
});
