// What the SDK does about every fault of the sandbox. The tables of docs/testing.md are what these tests have seen.
import {
  createdAt,
  createWebhookHandler,
  GatewayClient,
  type GatewayError,
  isGatewayError,
  memoryStore,
  type Payment,
} from 'payment-gateway-sdk';
import { type CallbackFault, type CallFault, type Fault, Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { CALL_FAULTS, CALLBACK_FAULTS, CREATE_FAULTS, takesMs } from '../../src/sandbox/faults/kinds.ts';
import { HANDLER } from '../../src/upkeep/handler-link.ts';
import { expectDocumented } from '../support/documents.ts';
import { CARD, errorOf, ID } from '../support/fixtures.ts';
import { tableOf } from '../support/markdown.ts';
import { whileTimePasses } from '../support/passing-time.ts';

const accepting = async () => new Response();

/** Quicker than the fault takes by itself, and slower than the client waits. */
const timeOf = (fault: Fault) => (takesMs(fault) ? { ms: 2_000 } : {});
const TIMEOUT = { slow: 500 } as Record<string, number>;

function open(fault: CallFault) {
  const sandbox = new Sandbox({ fetch: accepting });
  let calls = 0;
  const fetch: typeof sandbox.fetch = (...call) => {
    calls += 1;
    return sandbox.fetch(...call);
  };
  const gateway = new GatewayClient({ ...sandbox.clientOptions, fetch, timeout: TIMEOUT[fault] ?? 5_000 });
  return { sandbox, gateway, calls: () => calls };
}

const status = (payment: Payment) =>
  payment.paymentStatus === 'UNKNOWN' ? "the payment, `paymentStatus: 'UNKNOWN'`" : 'the payment';

/** An error as a merchant branches on it. */
const told = ({ name, outcome, paymentId }: GatewayError) =>
  [`\`${name}\``, outcome && `\`${outcome}\``, outcome && paymentId && 'with `paymentId`'].filter(Boolean).join(', ');

/** What a create gives that meets the fault, and how many payments there are then. */
async function create(fault: CallFault): Promise<string> {
  const { sandbox, gateway, calls } = open(fault);
  sandbox.faults.next(fault, timeOf(fault));
  const seen = await gateway.createDeposit(CARD).then(
    ({ payment }) => status(payment),
    error => {
      expect(isGatewayError(error)).toBe(true);
      // An id on an error is that of the payment there is.
      if (error.paymentId) expect(error.paymentId).toBe(sandbox.payments[0]?.id);
      if (error.outcome !== 'unknown') expect(sandbox.payments).toEqual([]);
      return told(error);
    },
  );
  expect([fault, calls()]).toEqual([fault, 1]); // a create is never repeated
  expect(sandbox.faults.armed).toEqual([]);
  expect(sandbox.payments.length).toBeLessThan(2);
  return seen;
}

/** What a lookup gives that meets the fault. */
async function lookUp(fault: CallFault): Promise<string> {
  const { sandbox, gateway, calls } = open(fault);
  const { payment } = await gateway.createDeposit(CARD);
  sandbox.faults.next(fault, { ...timeOf(fault), on: 'lookup' });
  const seen = await gateway.getPayment(payment.id).then(status, told);
  expect(sandbox.faults.armed).toEqual([]);
  return calls() > 2 ? `repeated, then ${seen}` : seen;
}

/** What a create gives whose record, or whose callback, is other than expected. */
async function createOnce(fault: CallFault): Promise<string> {
  const handled: string[] = [];
  const sandbox: Sandbox = new Sandbox({ fetch: (url, init) => handler(new Request(url, init)) });
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store: memoryStore() });
  const onPayment = ({ paymentStatus }: Payment) => void handled.push(paymentStatus);
  const handler = createWebhookHandler({ gateway, onPayment, onError: () => {}, onEvent: () => {} });
  const reference = ' Order-7 ';
  sandbox.faults.next(fault);
  const create = () => gateway.createDeposit({ ...CARD, amount: '25.50', reference });
  const first = await create().then(
    ({ payment }) => `the payment, with \`reference: ${JSON.stringify(payment.reference)}\``,
    told,
  );
  const [payment] = sandbox.payments;
  if (!payment) throw new Error('The gateway has no payment.');
  if (handled.length === 0) await sandbox.complete(payment.id);
  await sandbox.idle();
  expect([fault, ...handled]).toEqual([fault, 'COMPLETED']);
  const again = await create().then(
    created => {
      expect([created.payment.id, created.replayed]).toEqual([payment.id, true]);
      return 'finds it again';
    },
    error => `gives ${told(error)}`,
  );
  expect(sandbox.payments).toHaveLength(1);
  const reviews = (await gateway.reviews()).map(({ reason }) => `, review \`${reason}\``).join('');
  return `${first}; \`onPayment\` runs once${reviews}; the same create ${again}`;
}

/** How the handler takes the callbacks of a payment that is authorised and paid while a fault is armed. */
async function callBack(fault: CallbackFault): Promise<string> {
  const effects: string[] = [];
  const answers: number[] = [];
  const sandbox: Sandbox = new Sandbox({
    fetch: async (url, init) => {
      const response = await handler(new Request(url, init));
      answers.push(response.status);
      return response;
    },
  });
  const gateway = new GatewayClient(sandbox.clientOptions);
  const handler = createWebhookHandler({
    gateway,
    onPayment: ({ paymentStatus }) => void effects.push(paymentStatus),
    onError: () => {},
  });
  const { payment } = await gateway.createDeposit(CARD);
  sandbox.faults.next(fault, takesMs(fault) ? { ms: 20 } : {});
  if (fault === 'callback-reorder') await sandbox.authorize(payment.id);
  await sandbox.complete(payment.id);
  await sandbox.idle();
  const isSwept = effects.length === 0;
  if (isSwept) await handler[HANDLER].process(payment.id, { timeout: 30_000 });
  expect([fault, ...effects]).toEqual([fault, 'COMPLETED']);
  expect(sandbox.faults.armed).toEqual([]);
  return [
    answers.length > 0 && `answers ${answers.join(', then ')}`,
    `\`onPayment\` runs once, \`COMPLETED\`${isSwept ? ', from a sweep alone' : ''}`,
  ]
    .filter(Boolean)
    .join('; ');
}

// ky is loaded by the first lookup, and no fake clock waits for that.
beforeAll(async () => void (await errorOf(open('drop').gateway.getPayment(ID))));
afterEach(() => void vi.useRealTimers());

describe('a fault of calls', () => {
  it('waits for a call that it can spoil', async () => {
    const { sandbox, gateway } = open('commit-then-cut');
    sandbox.faults.next('commit-then-cut');
    sandbox.faults.next('slow', { count: 2, ms: 1 });
    const stranger = new GatewayClient({ ...sandbox.clientOptions, signKey: 'another' });
    expect(await errorOf(stranger.createDeposit(CARD))).toMatchObject({ status: 401 });
    expect(sandbox.faults.armed).toEqual([
      { id: 1, fault: 'commit-then-cut', on: 'create', count: 1 },
      { id: 2, fault: 'slow', on: 'create', ms: 1, count: 2 },
    ]);
    expect(await errorOf(gateway.createDeposit(CARD))).toMatchObject({ outcome: 'unknown' });
    await errorOf(stranger.createDeposit(CARD));
    expect(sandbox.faults.armed).toMatchObject([{ fault: 'slow', count: 2 }]);
  });

  it.each([
    ['created-offset', { date: '2026-01-02 05:04:05.250000', timezone_type: 1, timezone: '+02:00' }],
    ['created-abbreviation', { date: '2026-01-01 22:04:05.250000', timezone_type: 2, timezone: 'EST' }],
  ] as const)('%s writes the same moment in another way', async (fault, created) => {
    // 2026-01-02 03:04:05 UTC, by `date -u -d '2026-01-02 03:04:05' +%s`.
    const now = 1_767_323_045_250;
    const sandbox = new Sandbox({ now: () => now });
    sandbox.faults.next(fault);
    const { payment } = await new GatewayClient(sandbox.clientOptions).createDeposit(CARD);
    expect(payment.created).toEqual(created);
    expect(createdAt(payment)?.getTime()).toBe(now);
  });

  it('spoils the unwrapped shape as well', async () => {
    const sandbox = new Sandbox({ shape: 'unwrapped' });
    sandbox.faults.next('commit-then-drift');
    const error = await errorOf(new GatewayClient(sandbox.clientOptions).createDeposit(CARD));
    expect(error).toMatchObject({ name: 'ResponseError', paymentId: sandbox.payments[0]?.id });
  });
});

it('the fault amount-round keeps at least 1, and reject-429 says when to come again', async () => {
  const { sandbox, gateway } = open('amount-round');
  sandbox.faults.next('amount-round');
  await errorOf(gateway.createDeposit({ ...CARD, amount: '0.20' }));
  expect(sandbox.payments).toMatchObject([{ amount: 1 }]);
  sandbox.faults.next('reject-429', { on: 'lookup' });
  const answer = await sandbox.fetch(`http://sandbox.localhost/api/v1/payments/${ID}`);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1']);
});

describe('a fault', () => {
  const CREATE = { ...CARD, reference: 'order-1' };

  it('is injected as often as it says', async () => {
    const { sandbox, gateway } = open('reject-422');
    sandbox.faults.next('reject-422', { count: 2 });
    for (const left of [[{ count: 1 }], []]) {
      expect(await errorOf(gateway.createDeposit(CARD))).toMatchObject({ status: 422 });
      expect(sandbox.faults.armed).toMatchObject(left);
    }
    await gateway.createDeposit(CARD);
  });

  it('is injected into the calls and callbacks of its reference alone, before those for all', async () => {
    const { sandbox, gateway } = open('reject-422');
    sandbox.faults.next('reject-401');
    sandbox.faults.next('reject-422', { reference: 'order-1' });
    expect(await errorOf(gateway.createDeposit(CREATE))).toMatchObject({ status: 422 });
    expect(await errorOf(gateway.createDeposit(CREATE))).toMatchObject({ status: 401 });
    sandbox.faults.next('reject-422', { reference: 'order-1', on: 'lookup' });
    sandbox.faults.next('callback-lose', { reference: 'order-1' });
    const other = (await gateway.createDeposit({ ...CARD, reference: 'order-2' })).payment;
    await gateway.getPayment(other.id);
    await sandbox.complete(other.id);
    const mine = (await gateway.createDeposit(CREATE)).payment;
    expect(await errorOf(gateway.getPayment(mine.id))).toMatchObject({ status: 422 });
    await sandbox.complete(mine.id);
    await sandbox.idle();
    expect(sandbox.deliveries.map(({ fault }) => fault)).toEqual([undefined, 'callback-lose']);
  });

  it('is injected as likely as it says, and into the same calls in every run of a seed', { tags: 'long' }, async () => {
    const hits = async (seed: string) => {
      const sandbox = new Sandbox({ seed });
      const gateway = new GatewayClient(sandbox.clientOptions);
      sandbox.faults.next('reject-422', { probability: 0.25, count: 1_000 });
      const seen: boolean[] = [];
      for (let call = 0; call < 60; call++) {
        await gateway.createDeposit(CARD).catch(() => {});
        seen.push(sandbox.calls.at(-1)?.fault !== undefined);
      }
      return seen;
    };
    const first = await hits('a');
    expect(first).toEqual(await hits('a'));
    expect(first).not.toEqual(await hits('b'));
    const share = first.filter(Boolean).length / first.length;
    expect(share).toBeGreaterThan(0.1);
    // Tried twice for a call, it would meet 44 in a hundred.
    expect(share).toBeLessThan(0.38);
  });

  it.each([
    ['callback-lose', { on: 'lookup' }, 'on is for faults of calls'],
    ['callback-first', { on: 'lookup' }, 'can only be injected into a create'],
    ['drop', { ms: 5 }, 'ms is for slow and callback-delay'],
    ['drop', { count: 0 }, 'count must be 1 or more'],
    ['drop', { probability: 0 }, 'probability must be a number above 0'],
    ['drop', { probability: 1.1 }, 'probability must be a number above 0, and at most 1'],
  ] as const)('%s with %j, which would do nothing, is refused', (fault, options, told) => {
    expect(() => new Sandbox().faults.next(fault, options)).toThrow(told);
  });
});

it('a fault of callbacks holds back as many as are armed, and posts the latest first', async () => {
  const sandbox = new Sandbox({ fetch: accepting });
  const { payment } = await new GatewayClient(sandbox.clientOptions).createDeposit(CARD);
  sandbox.faults.next('callback-reorder');
  sandbox.faults.next('callback-reorder');
  await sandbox.authorize(payment.id);
  await sandbox.complete(payment.id);
  await sandbox.idle();
  expect(sandbox.deliveries).toEqual([]);
  await sandbox.fail(payment.id, { force: true });
  await sandbox.idle();
  expect(sandbox.deliveries.map(({ paymentStatus }) => paymentStatus)).toEqual(['FAILED', 'COMPLETED', 'AUTHORIZED']);
});

describe('docs/testing.md', () => {
  async function seeCalls(fault: CallFault) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    return [await whileTimePasses(create(fault), 5), await whileTimePasses(lookUp(fault), 5)];
  }

  /** Mend: UPDATE_DOCS=1 npx vitest run test/sandbox/faults.test.ts */
  it.each([
    ['calls', CALL_FAULTS, ['a create gives', 'a lookup gives'], seeCalls],
    ['creates', CREATE_FAULTS, ['the SDK'], async (fault: CallFault) => [await createOnce(fault)]],
    ['callbacks', CALLBACK_FAULTS, ['`createWebhookHandler`'], async (fault: CallbackFault) => [await callBack(fault)]],
  ] as const)('tells what is seen of faults of %s', async (name, faults, columns, see) => {
    const rows: string[][] = [];
    for (const [fault, does] of Object.entries(faults))
      rows.push([`\`${fault}\``, does, ...(await see(fault as never))]);
    expectDocumented('testing.md', `faults of ${name}`, tableOf(['fault', 'what happens', ...columns], rows));
  });
});
