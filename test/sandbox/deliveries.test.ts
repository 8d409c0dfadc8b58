// Callbacks: what is in them by method, what a fault makes of them, when they come again, and what is kept of the answers.
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { create, sandboxOf } from '../support/eventful.ts';
import { whileTimePasses } from '../support/passing-time.ts';

afterEach(() => vi.useRealTimers());

/** What is posted of a payment that is completed. */
async function completed(sandbox: Sandbox, request: object) {
  const id = await create(sandbox, request);
  const record = await sandbox.complete(id);
  await sandbox.idle();
  return { id, record, posted: JSON.parse(sandbox.deliveries.at(-1)?.body ?? '{}') };
}

const SETTLEMENT = ['settled_crypto_amount', 'crypto_tx_hash', 'destination_wallet'];

describe('the callback of a completed payment', () => {
  // As in the document's payloads.
  it.each(['CARD', 'BLIK', 'APPLEPAY', 'GOOGLEPAY'])('of %s lacks the settlement', async paymentMethod => {
    const apple = { reference: 'order-1', returnUrl: 'https://shop.example/', billingAddress: { countryCode: 'DE' } };
    const { posted } = await completed(sandboxOf(), { paymentMethod, ...apple });
    for (const name of SETTLEMENT) expect(posted).not.toHaveProperty(name);
    expect(posted).toMatchObject({ paymentMethod, paymentStatus: 'COMPLETED' });
    expect('fallbackPaymentStatus' in posted).toBe(paymentMethod === 'GOOGLEPAY');
  });

  it.each(['IDEAL', 'PAYID', 'P24'])('of %s has it', async paymentMethod => {
    const { posted } = await completed(sandboxOf(), { paymentMethod });
    for (const name of SETTLEMENT) expect(posted).toHaveProperty(name);
    expect(posted).not.toHaveProperty('fallbackPaymentStatus');
  });

  it('of a payout to a card has it', async () => {
    const sandbox = sandboxOf();
    const { payment } = await sandbox.play({
      create: { paymentType: 'WITHDRAWAL', paymentMethod: 'CARD', amount: 5, currency: 'EUR' },
      steps: [{ move: 'complete', expect: { callbacks: ['answered'] } }],
    });
    expect(JSON.parse(sandbox.deliveries[0]?.body ?? '{}')).toEqual(payment);
  });
});

describe('a fault of a callback', () => {
  it('that forges it posts one of ten times the amount before it', async () => {
    const sandbox = sandboxOf();
    const id = await create(sandbox);
    sandbox.faults.next('callback-forge');
    await sandbox.fail(id);
    await sandbox.idle();
    const bodies = sandbox.deliveries.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ paymentStatus, amount }) => [paymentStatus, amount])).toEqual([
      ['COMPLETED', 255],
      ['FAILED', 25.5],
    ]);
    expect(sandbox.deliveries.map(({ paymentStatus }) => paymentStatus)).toEqual(['COMPLETED', 'FAILED']);
  });

  it('that drops the query changes nothing else', async () => {
    const sandbox = sandboxOf();
    const id = await create(sandbox, { webhookUrl: 'https://shop.example/callbacks?token=1#part' });
    sandbox.faults.next('callback-drop-query');
    const record = await sandbox.cancel(id);
    await sandbox.idle();
    expect(sandbox.deliveries).toMatchObject([
      { url: 'https://shop.example/callbacks#part', fault: 'callback-drop-query', paymentStatus: 'CANCELED' },
    ]);
    expect(JSON.parse(sandbox.deliveries[0]?.body ?? '{}')).toEqual(record);
  });

  it('that holds it back waits for the next one of its own payment', async () => {
    const sandbox = sandboxOf();
    const [held, other] = [await create(sandbox), await create(sandbox)];
    sandbox.faults.next('callback-reorder');
    await sandbox.authorize(held);
    const posted = async () => {
      await sandbox.idle();
      return sandbox.deliveries.map(({ paymentId, paymentStatus }) => [paymentId, paymentStatus]);
    };
    await sandbox.complete(other);
    expect(await posted()).toEqual([[other, 'COMPLETED']]);
    await sandbox.complete(held);
    expect((await posted()).slice(1)).toEqual([
      [held, 'COMPLETED'],
      [held, 'AUTHORIZED'],
    ]);
  });

  it('that delays it is not ended by the next one', async () => {
    const sandbox = sandboxOf();
    const id = await create(sandbox);
    sandbox.faults.next('callback-delay', { ms: 60_000 });
    await sandbox.authorize(id);
    await sandbox.complete(id);
    await vi.waitFor(() => expect(sandbox.deliveries[0]?.status).toBe(200), 60_000);
    expect(sandbox.deliveries.map(({ paymentStatus }) => paymentStatus)).toEqual(['COMPLETED']);
    sandbox.clock.advance(60_000);
    await sandbox.idle();
    expect(sandbox.deliveries.map(({ paymentStatus }) => paymentStatus)).toEqual(['COMPLETED', 'AUTHORIZED']);
  });
});

describe('a callback that was answered', () => {
  it('keeps the first 4,096 letters of the answer, though a letter arrives in two parts', async () => {
    const whole = new TextEncoder().encode(`é${'x'.repeat(5_000)}`);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(whole.subarray(0, 1));
        controller.enqueue(whole.subarray(1));
        controller.close();
      },
    });
    const sandbox = sandboxOf({ fetch: async () => new Response(body) });
    await sandbox.cancel(await create(sandbox));
    await sandbox.idle();
    expect(sandbox.deliveries[0]).toMatchObject({ status: 200, answer: `é${'x'.repeat(4_095)}` });
  });

  it.each([
    ['breaks off', (controller: ReadableStreamDefaultController) => controller.error(new Error('cut'))],
    ['never ends', () => {}],
  ])('with a body that %s has its status', async (_, go) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const sandbox = sandboxOf({ fetch: async () => new Response(new ReadableStream({ pull: go }), { status: 202 }) });
    await sandbox.cancel(await create(sandbox));
    await whileTimePasses(sandbox.idle(), 500);
    expect(sandbox.deliveries[0]).toMatchObject({ status: 202 });
    expect(sandbox.deliveries[0]).not.toHaveProperty('answer');
  });
});

describe('a callback that is not posted', () => {
  it('because its address is elsewhere does not come again', async () => {
    const sandbox = new Sandbox({ callbackRetries: [1] });
    await sandbox.cancel(await create(sandbox));
    await sandbox.idle();
    expect(sandbox.deliveries.map(({ error }) => error)).toEqual([
      'not posted: the address is not on loopback. To post it elsewhere: --forward-to, or new Sandbox({ forwardTo }).',
    ]);
  });

  it('is one to an address that all were told to go to', async () => {
    const sandbox = new Sandbox({ forwardTo: 'http://shop.invalid/callbacks' });
    await sandbox.cancel(await create(sandbox));
    await sandbox.idle();
    expect(sandbox.deliveries[0]?.error).toMatch(/^(?!not posted)\S/);
  });
});

describe('a reset', () => {
  it('posts nothing of what waited for its turn, and tells of nothing more', async () => {
    const post = vi.fn(() => new Promise<never>(() => {}));
    const told: string[] = [];
    const sandbox = sandboxOf({ fetch: post, onEvent: ({ type }) => told.push(type) });
    sandbox.faults.next('callback-duplicate');
    await sandbox.cancel(await create(sandbox));
    await vi.waitFor(() => expect(post).toHaveBeenCalledTimes(1), 60_000);
    sandbox.reset();
    await new Promise(setImmediate);
    expect(post).toHaveBeenCalledTimes(1);
    expect(told.at(-1)).toBe('reset');
  });

  it('forgets which payments a scenario made, though the same ids come again', async () => {
    const forwardTo = 'http://127.0.0.1:1/all';
    const sandbox = sandboxOf({ seed: 'a', forwardTo });
    const { payment } = await sandbox.play('deposit-completed', { to: 'http://127.0.0.1:1/own' });
    sandbox.reset();
    const id = await create(sandbox, { webhookUrl: 'http://127.0.0.1:1/shop' });
    expect(id).toBe(payment.id);
    await sandbox.cancel(id);
    await sandbox.idle();
    expect(sandbox.deliveries.map(({ url }) => url)).toEqual([forwardTo]);
  });
});
