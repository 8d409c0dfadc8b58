// The test that the sandbox writes of a payment, and the values in it, letter for letter.
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { literal } from '../../src/sandbox/scenarios/literal.ts';
import { create, exported } from '../support/eventful.ts';

const answering = (statuses: number[], options: object = {}) =>
  new Sandbox({ fetch: async () => new Response(null, { status: statuses.shift() ?? 200 }), ...options });

describe('a test of a payment', () => {
  it('is this file', async () => {
    const sandbox = answering([503, 200, 200]);
    const id = await create(sandbox, { reference: 'order-1', webhookUrl: 'https://shop.example/callbacks?token=1' });
    await sandbox.authorize(id);
    await sandbox.idle();
    sandbox.faults.next('callback-duplicate');
    await sandbox.cancel(id);
    await sandbox.idle();
    expect(
      await exported(sandbox, id),
    ).toBe(`// What happened to payment ${id} in the sandbox. How its callbacks were answered then:
// 1. AUTHORIZED: 503
// 2. CANCELED: 200
// 3. CANCELED: 200
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, test } from 'vitest';

// Put your own handler here: a function from a Request to a Response, over this client.
const handlerOver = (gateway: GatewayClient) => createWebhookHandler({ gateway, onPayment: () => {} });

test('order-1 is CANCELED', async () => {
  const sandbox: Sandbox = new Sandbox({ fetch: (url, init) => handler(new Request(url, init)) });
  const handler = handlerOver(new GatewayClient(sandbox.clientOptions));
  const { problems, payment } = await sandbox.play(
    {
      create: {
        paymentType: 'DEPOSIT',
        paymentMethod: 'CARD',
        amount: 25.5,
        currency: 'EUR',
        reference: 'order-1',
      },
      steps: [{ move: 'authorize' }, { fault: 'callback-duplicate' }, { move: 'cancel' }],
      expect: { paymentStatus: 'CANCELED' },
    },
    { to: 'https://shop.example/callbacks' },
  );
  expect(problems).toEqual([]); // every callback is taken, and no forged one is believed
  expect(payment.paymentStatus).toBe('CANCELED');
});
`);
  });

  it('says of callbacks why they were not answered, and is of a gateway that wraps nothing', async () => {
    const sandbox = new Sandbox({
      shape: 'unwrapped',
      fetch: async () => {
        throw new Error('no\u0007body is there');
      },
    });
    const id = await create(sandbox, { reference: null });
    await sandbox.complete(id);
    await sandbox.idle();
    const code = await exported(sandbox, id);
    expect(code).toMatch(/^\/\/ 1\. COMPLETED: no.{0,8}body is there$/m);
    expect(code).not.toContain('\u0007');
    expect(code).toContain("new Sandbox({ shape: 'unwrapped', fetch:");
    expect(code).toContain(`test('${id} is COMPLETED'`);
  });

  it('says of a callback that it is under way', async () => {
    const sandbox = new Sandbox({ fetch: () => new Promise(() => {}) });
    const id = await create(sandbox);
    await sandbox.complete(id);
    expect(await exported(sandbox, id)).toContain('// 1. COMPLETED: under way\n');
    sandbox.reset();
  });

  it('arms no fault that its create met, and none that no callback has met yet', { tags: 'long' }, async () => {
    const sandbox = answering([500], { callbackRetries: [60_000] });
    sandbox.faults.next('slow', { ms: 0 });
    const id = await create(sandbox);
    await sandbox.authorize(id);
    await vi.waitFor(() => expect(sandbox.deliveries[0]?.status).toBe(500));
    sandbox.faults.next('callback-delay', { ms: 60_000 });
    await sandbox.cancel(id);
    const code = await exported(sandbox, id);
    expect(code).toContain("steps: [{ move: 'authorize' }, { move: 'cancel' }],");
    expect(code).not.toContain('createFault');
    sandbox.reset();
  });

  it('arms faults in the order in which lookups met them, also where nothing moved the payment', async () => {
    const sandbox = answering([]);
    const id = await create(sandbox);
    for (const fault of ['reject-429', 'reject-401', 'unknown-status'] as const) {
      sandbox.faults.next(fault, { on: 'lookup' });
      const headers = { authorization: 'Bearer sandbox-api-key' };
      await sandbox.fetch(`http://sandbox.localhost/api/v1/payments/${id}`, { headers });
    }
    expect((await exported(sandbox, id)).replace(/\s+/g, ' ')).toContain(
      "steps: [{ fault: 'reject-429' }, { fault: 'reject-401' }, { fault: 'unknown-status' }],",
    );
  });

  it('leaves the move of callback-first to that fault, though the create was called before it', async () => {
    let now = 0;
    const sandbox = answering([], { now: () => (now += 1) });
    sandbox.faults.next('callback-first');
    const id = await create(sandbox);
    expect(sandbox.timeline(id).map(({ type }) => type)).toEqual(['request', 'move', 'callback']);
    expect(await exported(sandbox, id)).toContain("createFault: 'callback-first',\n      steps: [],");
  });

  it('arms a fault that met several lookups so often, before their move, and no fault of the create', async () => {
    const sandbox = answering([]);
    sandbox.faults.next('commit-then-502');
    const id = await create(sandbox).catch(() => sandbox.payments[0]?.id ?? '');
    const lookUp = async () => {
      const headers = { authorization: 'Bearer sandbox-api-key' };
      await sandbox.fetch(`http://sandbox.localhost/api/v1/payments/${id}`, { headers });
    };
    sandbox.faults.next('commit-then-502', { on: 'lookup', count: 2 });
    sandbox.faults.next('reject-429', { on: 'lookup' });
    await sandbox.authorize(id);
    for (let count = 0; count < 4; count++) await lookUp();
    sandbox.faults.next('commit-then-502', { on: 'lookup' });
    await sandbox.fail(id, { reason: 'Payment not funded' });
    await lookUp();
    const steps = /steps: (\[[\s\S]*\]),\s+expect:/.exec(await exported(sandbox, id))?.[1]?.replace(/\s+/g, ' ');
    expect(steps).toBe(
      "[ { fault: 'commit-then-502', count: 2 }, { fault: 'reject-429' }, { move: 'authorize' }, " +
        "{ fault: 'commit-then-502' }, { move: 'fail', reason: 'Payment not funded' }, ]",
    );
  });
});

describe('a value in it', () => {
  it.each<[unknown, string]>([
    [null, 'null'],
    [true, 'true'],
    [25.5, '25.5'],
    ['plain', "'plain'"],
    ['it\'s "so"', `'it\\'s "so"'`],
    ['a\\b\n\t', "'a\\\\b\\n\\t'"],
    ['\u2028\u202e\u007f', "'\\u{2028}\\u{202e}\\u{7f}'"],
    [{}, '{}'],
    [[], '[]'],
    [[1, 'two', [3]], "[1, 'two', [3]]"],
    [{ a: 1, gone: undefined, _b2: null }, '{ a: 1, _b2: null }'],
    [{ 'a-b': 1, '2a': 2, 'a b': 3, '': 4 }, "{ 'a-b': 1, '2a': 2, 'a b': 3, '': 4 }"],
    [JSON.parse('{"__proto__":1}'), "{ ['__proto__']: 1 }"],
  ])('%j is written %s', (value, text) => expect(literal(value)).toBe(text));

  it('of a hundred letters stands on one line, and of more on several', () => {
    const list = (letters: number) => ['x'.repeat(letters - 4)];
    expect(literal(list(100))).toHaveLength(100);
    expect(literal(list(101))).toBe(`[\n  '${'x'.repeat(97)}',\n]`);
    expect(literal(list(98), '  ')).toHaveLength(98);
    expect(literal(list(99), '  ')).toBe(`[\n    '${'x'.repeat(95)}',\n  ]`);
    expect(literal({ a: list(101) })).toBe(`{\n  a: [\n    '${'x'.repeat(97)}',\n  ],\n}`);
  });

  it('is what it was, once it is read as source text', () => {
    const value = { "it's": ['\u2028', { b: 'x'.repeat(120), c: [true, null, -1.5] }], d: {} };
    expect(new Function(`return ${literal(value, '    ')}`)()).toEqual(value);
  });
});
