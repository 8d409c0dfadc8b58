import { randomUUID } from 'node:crypto';
import { createWebhookHandler, GatewayClient, type GatewayEvent, memoryStore } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CreateRow } from '../../src/store/rules/create-row.ts';
import { type Creates, memoryCreates, noted, storeOf } from '../support/creates.ts';
import { CARD, errorOf, ID, KEYS, mirrored, OTHER_ID, PAYOUT, record } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { hostNotFound, json, networkError, wire } from '../support/wire.ts';

const deposit = { ...CARD, reference: 'order-1' };

afterEach(() => void vi.useRealTimers());

const never = () => new Promise<never>(() => {});

/** Creates whose attempts are written, and then something happens. */
const afterInsert = (statements: Creates, work: () => unknown): Creates => ({
  ...statements,
  insert: async row => {
    const inserted = await statements.insert(row);
    await work();
    return inserted;
  },
});

/** Creates whose attempts are written only after the work. */
const beforeInsert = (statements: Creates, work: () => unknown): Creates => ({
  ...statements,
  insert: async row => {
    await work();
    return statements.insert(row);
  },
});

/** What is in doubt in a store, of every scope. */
async function doubtsIn(statements: Creates): Promise<CreateRow[]> {
  return (await statements.list({ states: ['begun'] })).rows;
}

/** A client whose store guards its creates, and its events. */
function shopOver(statements: Creates, options: object) {
  const events: GatewayEvent[] = [];
  const onEvent = (event: GatewayEvent) => void events.push(event);
  const gateway = new GatewayClient({ ...KEYS, store: storeOf(statements), retries: 0, onEvent, ...options });
  const warnings = () => events.flatMap(event => (event.type === 'warning' ? [event.code] : []));
  const changes = () => events.flatMap(event => (event.type === 'store' ? [event.change] : []));
  return { gateway, statements, warnings, changes };
}

/** A shop over a sandbox. */
function open({ statements = memoryCreates() } = {}) {
  const sandbox = new Sandbox({ fetch: async () => new Response() });
  return { sandbox, ...shopOver(statements, sandbox.clientOptions) };
}

/** A shop over a script of answers. */
function scripted(statements: Creates, ...answers: Parameters<typeof wire>) {
  const { fetch, sent } = wire(...answers);
  return { sent, ...shopOver(statements, { fetch }) };
}

const created = (changes: object = {}) => {
  const { result } = JSON.parse(record('created card deposit'));
  return json(JSON.stringify({ result: { ...result, reference: deposit.reference, ...changes } }), 201);
};
/** The answer that has the payment of {@link PAYOUT}. */
const paidOut = () => created({ ...{ reference: PAYOUT.reference, amount: 75 }, paymentType: 'WITHDRAWAL' });

describe('a reference', () => {
  // properties/body-hash.test.ts writes it in every other way.
  it.each([
    ['redirect', deposit],
    ['transfer', { ...deposit, paymentMethod: 'PAYID', currency: 'AUD' }],
  ] as const)(
    'is one payment, however often it is created: the first answer comes again, its %s too',
    async (...row) => {
      const [type, request] = row;
      const { gateway, sandbox } = open();
      const first = await gateway.createDeposit(request);
      const calls = sandbox.calls.length;
      const { payment, nextAction } = first;
      expect(await gateway.find('order-1')).toMatchObject({ state: 'created', paymentId: payment.id, nextAction });
      // No call is made for that.
      expect([nextAction.type, sandbox.calls.length]).toEqual([type, calls]);
      expect(await gateway.createDeposit({ customer: undefined, ...request })).toEqual({ ...first, replayed: true });
      expect([first.replayed, sandbox.payments.length]).toEqual([false, 1]);
    },
  );

  it('is in doubt if the answer has the payment of another create: at once, with its id, and for an operator', async () => {
    const answers = [created({ reference: 'order-2' }), created(), created({ id: OTHER_ID })] as const;
    const { gateway, sent, changes } = scripted(memoryCreates(), ...answers);
    await gateway.createDeposit({ ...deposit, reference: 'order-2' });
    const error = await errorOf(gateway.createDeposit(deposit));
    expect(error).toMatchObject({
      name: 'ResponseError',
      outcome: 'unknown',
      paymentId: ID,
      issues: [{ path: 'id', message: 'is the payment of "order-2"' }],
    });
    expect(await gateway.find('order-1')).toMatchObject({ state: 'begun', conflictingIds: [ID], underWay: false });
    expect(await gateway.find('order-2')).toMatchObject({ state: 'created', paymentId: ID });
    expect([changes(), sent.length]).toEqual([['begun', 'created', 'begun', 'in_doubt'], 2]);
    // The operator has found its own.
    await gateway.settle('order-1', OTHER_ID);
    expect(await gateway.find('order-1')).toMatchObject({ state: 'created', paymentId: OTHER_ID });
  });

  it.each([
    ['reference', { reference: 'order-9' }],
    ['amount', { amount: 25.51 }],
  ] as const)('is in doubt if the answer names another %s, and an operator settles it', async (field, changes) => {
    const { gateway, warnings } = scripted(memoryCreates(), created(changes), created(changes));
    expect(await errorOf(gateway.createDeposit(deposit))).toMatchObject({
      name: 'ResponseError',
      outcome: 'unknown',
      paymentId: ID,
      issues: [{ path: field, message: 'differs from the request' }],
    });
    expect(await gateway.find('order-1')).toMatchObject({ state: 'begun', paymentId: ID, underWay: false });
    await gateway.settle('order-1', ID, { despite: [field] });
    expect(await gateway.find('order-1')).toMatchObject({ state: 'created', paymentId: ID });
    expect(warnings()).toEqual([]);
  });

  it('is kept with an amount of plain digits', async () => {
    const small = { amount: '0.0000001', currency: 'BTC' };
    const { gateway } = scripted(memoryCreates(), created({ ...small, amount: 1e-7 }));
    await gateway.createDeposit({ ...deposit, ...small });
    expect(await gateway.find('order-1')).toMatchObject(small);
    expect(await gateway.payOut({}, { ...PAYOUT, ...small })).toMatchObject(small);
  });

  it('takes two statements', async () => {
    const store = memoryStore();
    const statements = noted(store, 'read', 'owner', 'write', 'list', 'due');
    const gateway = new GatewayClient({ ...KEYS, store, fetch: wire(mirrored).fetch });
    await gateway.createDeposit(deposit);
    // The first ones bind the scope to the gateway.
    expect(statements.splice(0)).toEqual(['read', 'write', 'write', 'write']);
    await gateway.createDeposit({ ...deposit, reference: 'order-2' });
    expect(statements).toEqual(['write', 'write']);
  });

  it('is running until its create has ended, or its timeout has passed', async () => {
    let now = 1_000_000;
    const answer = Promise.withResolvers<Response>();
    const { gateway } = scripted(memoryCreates({ now: () => now }), () => answer.promise);
    const creating = errorOf(gateway.createDeposit(deposit, { timeout: 30_000 }));
    const isUnderWay = async () => (await gateway.find('order-1'))?.underWay;
    await vi.waitFor(async () => expect(await isUnderWay()).toBe(true), 60_000);
    now += 30_000;
    expect(await isUnderWay()).toBe(true);
    now += 1;
    expect(await isUnderWay()).toBe(false);
    now -= 1;
    answer.reject(networkError('ECONNRESET', 'read'));
    await creating;
    expect(await isUnderWay()).toBe(false);
  });

  it.each([
    [{ amount: '25.51' }, ['amount']],
    [{ amount: '25.51', currency: 'USD' }, ['amount', 'currency']],
    [{ paymentMethod: 'BLIK' }, ['paymentMethod']],
    [{ description: 'another' }, ['other fields']],
    [{ description: null }, ['other fields']],
  ])('is refused for another request, naming what differs: %j', async (changes, differing) => {
    const { gateway, sandbox } = open();
    const { payment } = await gateway.createDeposit(deposit);
    const error = await errorOf(gateway.createDeposit({ ...deposit, ...changes } as never));
    const facts = { outcome: 'not_sent', reference: 'order-1', paymentId: payment.id };
    expect(error).toMatchObject({ name: 'DuplicateReferenceError', differing, ...facts });
    expect(sandbox.payments).toHaveLength(1);
  });

  it('is a UUID for a deposit without one, and required for a withdrawal', async () => {
    const { gateway, sandbox } = open();
    const { reference, ...anonymous } = deposit;
    for (const request of [anonymous, { ...anonymous, reference: null }, { ...anonymous, reference: '' }]) {
      const { payment } = await gateway.createDeposit(request);
      expect(payment.reference).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
      expect(await gateway.find(payment.reference ?? '')).toMatchObject({ state: 'created', paymentId: payment.id });
    }
    sandbox.faults.next('commit-then-drop');
    const { message } = (await errorOf(gateway.createDeposit(anonymous))) as Error;
    const [doubt] = await gateway.doubts();
    expect(message).toContain(`the creation of "${doubt?.reference}"`);
    for (const reference of [undefined, null, '']) {
      const error = await errorOf(gateway.createWithdrawal({ ...PAYOUT, reference }));
      expect(error).toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not_sent',
        issues: [{ path: 'reference' }],
      });
      expect(String(error)).toContain('prevents a second payout of one reference');
    }
  });

  it('is free again after a refusal, and after a create that never left', async () => {
    const statements = memoryCreates();
    const { gateway, sent, changes } = scripted(statements, json('{}', 422), hostNotFound(), created());
    expect(await errorOf(gateway.createDeposit(deposit))).toMatchObject({ outcome: 'rejected' });
    expect(await errorOf(gateway.createDeposit(deposit))).toMatchObject({ outcome: 'not_sent' });
    // And not planned: nobody has planned it.
    expect(await gateway.find('order-1')).toHaveProperty('state', 'freed');
    expect(await gateway.createDeposit(deposit)).toHaveProperty('replayed', false);
    expect([sent.length, changes()]).toEqual([3, ['begun', 'freed', 'begun', 'freed', 'begun', 'created']]);
  });
});

describe('the scope of a store', () => {
  const at = (baseUrl: string, statements: Creates) => {
    const { fetch, sent } = wire(created());
    return { ...shopOver(statements, { baseUrl, fetch }), sent };
  };

  it('belongs to the gateway of its first client: another one sends nothing and reads nothing', async () => {
    const statements = memoryCreates();
    await at('https://one.example', statements).gateway.createDeposit(deposit);
    const { gateway, sent } = at('https://two.example', statements);
    const create = () => gateway.createDeposit({ ...deposit, reference: 'order-2' });
    for (const ask of [create(), gateway.find('order-1'), gateway.doubts(), gateway.checkout('order', CARD)]) {
      const error = await errorOf(ask);
      expect(error).toMatchObject({ name: 'ConfigurationError', outcome: 'not_sent' });
      expect(String(error)).toContain('belongs to the gateway https://one.example, not to https://two.example');
    }
    expect(sent).toEqual([]);
    expect(await at('https://one.example', statements).gateway.find('order-2')).toBeUndefined();
  });

  it.each(['find', 'payOut'] as const)('of a sandbox, whatever its port, is not of a real gateway (%s)', async name => {
    const statements = memoryCreates();
    for (const baseUrl of ['http://127.0.0.1:4010', 'http://localhost:4011']) {
      const { gateway } = at(baseUrl, statements);
      await (name === 'find' ? gateway.find('order-1') : gateway.payOut({}, PAYOUT));
    }
    const error = await errorOf(at('https://one.example', statements).gateway.find('order-1'));
    expect(String(error)).toContain('belongs to the gateway http://127.0.0.1, not to https://one.example');
  });

  it('is checked again after a failure of the store, which sends nothing', async () => {
    const statements = memoryCreates();
    const { gateway, sent } = at('https://one.example', statements);
    vi.spyOn(statements.inner, 'read').mockRejectedValueOnce(new Error('down'));
    expect(await errorOf(gateway.createDeposit(deposit))).toMatchObject({ name: 'StoreError', outcome: 'not_sent' });
    expect(sent).toEqual([]);
    expect(await gateway.createDeposit(deposit)).toHaveProperty('replayed', false);
  });
});

describe('creates of one reference at the same instant', () => {
  it('in one process join the running one, and are replayed', async () => {
    const { gateway, sandbox, changes } = open();
    const results = await Promise.all(Array.from({ length: 10 }, () => gateway.createWithdrawal(PAYOUT)));
    expect(sandbox.payments).toHaveLength(1);
    expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(results.map(({ payment }) => payment.id)).size).toBe(1);
    expect(changes()).toEqual(['begun', 'created']);
  });

  it('in one process share its failure as well', async () => {
    const { gateway, sent } = scripted(memoryCreates(), json('{}', 422));
    const errors = await Promise.all([1, 2, 3].map(() => errorOf(gateway.createDeposit(deposit))));
    expect(errors).toMatchObject(Array(3).fill({ name: 'ApiError', outcome: 'rejected' }));
    expect(sent).toHaveLength(1);
  });

  it('in another process find it in doubt', async () => {
    const statements = memoryCreates();
    const leave = Promise.withResolvers<Response>();
    const first = scripted({ ...statements }, () => leave.promise);
    const creating = first.gateway.createDeposit(deposit);
    await vi.waitFor(() => expect(first.sent).toHaveLength(1), 60_000);
    const error = await errorOf(scripted({ ...statements }, created()).gateway.createDeposit(deposit));
    const facts = { outcome: 'unknown', reference: 'order-1', since: expect.any(Date) };
    expect(error).toMatchObject({ name: 'PaymentInDoubtError', ...facts });
    leave.resolve(created());
    expect(await creating).toHaveProperty('replayed', false);
  });
});

it('a doubt makes no second payment, whatever the shop tries', async () => {
  const { gateway, sandbox } = open();
  sandbox.faults.next('commit-then-drop');
  expect(await errorOf(gateway.createWithdrawal(PAYOUT))).toMatchObject({ outcome: 'unknown' });
  for (let tries = 0; tries < 3; tries++) {
    expect(await errorOf(gateway.createWithdrawal(PAYOUT))).toMatchObject({ name: 'PaymentInDoubtError' });
  }
  expect(sandbox.payments).toHaveLength(1);
  expect(await gateway.doubts()).toMatchObject([{ reference: 'payout-1', underWay: false }]);
});

describe('a store that refuses an attempt', () => {
  // properties/never-written.test.ts tries every other code.
  it.each([
    ['42P01', []],
    ['ECONNRESET', ['read']],
  ])('because of %s takes it back only if it may have written it: %j', async (code, expected) => {
    const statements = memoryCreates();
    const asked = noted(statements, 'read');
    const { insert } = statements;
    statements.insert = (row, tx) => (row.state === 'begun' ? Promise.reject(failure) : insert(row, tx));
    const failure = Object.assign(new TypeError('no'), { code });
    const { gateway, sent } = scripted(statements, paidOut());
    expect(await errorOf(gateway.createWithdrawal(PAYOUT))).toMatchObject({
      name: 'StoreError',
      outcome: 'not_sent',
      message: expect.stringMatching(/^The creation of "payout-1" could not be written to the store \(no\)\. /),
      cause: { name: 'TypeError', message: 'no', code },
    });
    expect([asked, sent]).toEqual([expected, []]);
  });
});

it('a create that is stopped before it began says so', async () => {
  const { gateway } = scripted(memoryCreates(), created());
  const stopped = gateway.createWithdrawal(PAYOUT, { signal: AbortSignal.abort() });
  expect(await errorOf(stopped)).toMatchObject({
    code: 'aborted',
    outcome: 'not_sent',
    message: expect.stringMatching(/^The creation of "payout-1" was stopped \(aborted\)\. /),
  });
});

describe('a store that fails', () => {
  it('by taking too long stops the create, and a late write is undone', { tags: 'long' }, async () => {
    const statements = memoryCreates();
    const slow = Promise.withResolvers<void>();
    const { gateway, sandbox, warnings } = open({ statements: beforeInsert(statements, () => slow.promise) });
    const late = await errorOf(gateway.createWithdrawal(PAYOUT, { timeout: 20 }));
    expect(String(late)).toMatch(/^StoreError: .* to the store \(it did not answer in time\)\. /);
    const signal = AbortSignal.timeout(10);
    const aborted = await errorOf(gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-2' }, { signal }));
    expect(aborted).toMatchObject({ name: 'ConnectionError', code: 'aborted', outcome: 'not_sent' });
    slow.resolve();
    const states = async () => (await statements.list({ states: ['begun', 'freed'] })).rows.map(({ state }) => state);
    await vi.waitFor(async () => expect(await states()).toEqual(['freed', 'freed']), 60_000);
    expect([sandbox.payments, warnings()]).toEqual([[], []]);
    expect(await gateway.createWithdrawal(PAYOUT)).toHaveProperty('replayed', false);
  });

  it('after the gateway accepted lets the create resolve, and goes on for five minutes', async () => {
    vi.useFakeTimers();
    const statements = memoryCreates();
    let tries = 0;
    const failing: Creates['replace'] = async (...change) => {
      tries += 1;
      if (tries < 10) throw new Error('store down');
      return statements.replace(...change);
    };
    const { gateway, warnings } = open({ statements: { ...statements, replace: failing } });
    const creating = gateway.createWithdrawal(PAYOUT);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await creating).toMatchObject({ replayed: false, payment: { paymentStatus: 'PENDING' } });
    expect(await errorOf(gateway.createWithdrawal(PAYOUT))).toHaveProperty('name', 'PaymentInDoubtError');
    expect(tries).toBe(5);
    await vi.advanceTimersByTimeAsync(150_000);
    expect([tries, await doubtsIn(statements), warnings()]).toEqual([10, [], []]);
    expect(await gateway.createWithdrawal(PAYOUT)).toMatchObject({ replayed: true, stale: false });
  });

  it('and stays down is reported after five minutes', async () => {
    vi.useFakeTimers();
    const failing = async () => Promise.reject(new Error('store down'));
    const { gateway, warnings } = open({ statements: { ...memoryCreates(), replace: failing } });
    const creating = gateway.createWithdrawal(PAYOUT, { timeout: 100 });
    await vi.advanceTimersByTimeAsync(100);
    expect(await creating).toHaveProperty('payment.id');
    await vi.advanceTimersByTimeAsync(250_000);
    expect(warnings()).toEqual([]);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(warnings()).toEqual(['create_not_recorded']);
  });

  it('by standing still after the send does not hold the create up beyond its time', async () => {
    vi.useFakeTimers();
    const { gateway } = open({ statements: { ...memoryCreates(), replace: never } });
    const begun = Date.now();
    const creating = gateway.createWithdrawal(PAYOUT, { timeout: 2_000 });
    await vi.advanceTimersByTimeAsync(2_000);
    expect([(await creating).replayed, Date.now() - begun]).toEqual([false, 2_000]);
    await vi.runAllTimersAsync();
  });

  it.each([
    ['has not answered', never, { timeout: 20 }],
    ['has lost the connection', async () => Promise.reject(new Error('Connection terminated')), { timeout: 50 }],
  ])('and may have written the attempt all the same says so: %s', async (_, read, options) => {
    const { gateway } = open({ statements: { ...afterInsert(memoryCreates(), read), read } });
    const error = await errorOf(gateway.createWithdrawal(PAYOUT, options));
    expect(error).toMatchObject({ name: 'StoreError', outcome: 'not_sent' });
    expect(String(error)).toContain('The store may contain the attempt anyway');
    expect(String(error)).not.toContain('safe to create it again');
  });

  it('takes the attempt back, says that it is safe to create it again, and a late write leaves no doubt', async () => {
    const statements = memoryCreates();
    let late: () => Promise<unknown> = async () => {};
    const insert: Creates['insert'] = async row => {
      if (row.state === 'freed') return statements.insert(row);
      late = () => statements.insert(row);
      throw new Error('Connection terminated');
    };
    const { gateway } = open({ statements: { ...statements, insert } });
    const error = await errorOf(gateway.createWithdrawal(PAYOUT));
    expect((error as Error).message).toContain('safe to create it again');
    await late();
    expect(await doubtsIn(statements)).toEqual([]);
  });
});

describe('a row that changes during its request', () => {
  /** Somebody has given the attempt up, and begun the next one. */
  const overtake = async (statements: Creates) => {
    const [row] = (await doubtsIn(statements)) as [CreateRow];
    await statements.replace({ ...row, attemptId: randomUUID() }, row.revision);
  };
  /** Its row is gone, as after a restore from a backup. */
  function forgetful() {
    const statements = memoryCreates();
    let isGone = false;
    const wrapped: Creates = {
      ...statements,
      read: async key => (isGone ? { now: Date.now() } : statements.read(key)),
      replace: async (...change) => (isGone ? { isWritten: false, now: Date.now() } : statements.replace(...change)),
    };
    const forget = () => {
      isGone = true;
    };
    return { statements: wrapped, forget };
  }

  it('because another attempt has begun: the payment is beside it, and settles nothing', async () => {
    const statements = memoryCreates();
    const { gateway, changes, warnings } = scripted(statements, () => overtake(statements).then(() => created()));
    expect(await gateway.createDeposit(deposit)).toHaveProperty('replayed', false);
    expect([changes(), warnings()]).toEqual([['begun'], ['two_payments']]);
    expect((await doubtsIn(statements)).map(({ conflictingIds }) => conflictingIds)).toEqual([[ID]]);
  });

  it.each([
    ['a refusal', json('{}', 422), { name: 'ApiError', outcome: 'rejected' }],
    ['a lost answer', networkError('ECONNRESET', 'read'), { name: 'ConnectionError', outcome: 'unknown' }],
  ])('because it is gone: %s is reported unchanged', async (_, answer, error) => {
    const { statements, forget } = forgetful();
    const { gateway } = scripted(statements, async () => {
      forget();
      if (answer instanceof Error) throw answer;
      return answer;
    });
    expect(await errorOf(gateway.createDeposit(deposit))).toMatchObject(error);
  });

  it('or cannot be written any more: the error still says that nothing was sent', async () => {
    const { gateway } = scripted({ ...memoryCreates(), replace: never }, hostNotFound());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    const error = await whileTimePasses(errorOf(gateway.createDeposit(deposit)), 100);
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'ENOTFOUND', outcome: 'not_sent' });
  });
});

describe('an operator', () => {
  it.each([
    ['60 s', 60_000],
    ['ten minutes, where the store names no margin', undefined],
  ])("may say not_created only once the create's time has passed, and %s more", async (_, settleMargin) => {
    let now = Date.UTC(2026, 10, 21, 9);
    const statements = memoryCreates({ settleMargin, now: () => now });
    const { gateway } = scripted(statements, networkError('ECONNRESET', 'read'), paidOut());
    await errorOf(gateway.createWithdrawal(PAYOUT, { timeout: 1_000 }));
    const settleableAt = now + 1_000 + (settleMargin ?? 600_000);
    for (now of [now, now + 1_001, settleableAt]) {
      expect(await errorOf(gateway.settle('payout-1', 'not_created'))).toMatchObject({
        name: 'PaymentInDoubtError',
        message: expect.stringContaining(`until ${new Date(settleableAt).toISOString()}`),
      });
    }
    now += 1;
    await gateway.settle('payout-1', 'not_created');
    expect(await doubtsIn(statements)).toEqual([]);
    expect(await gateway.createWithdrawal(PAYOUT)).toHaveProperty('replayed', false);
  });

  it.each(['not_created', 'the payment'])(
    'has the last word of those who settle at once: another operator freed the reference meanwhile, this one says %s',
    async resolution => {
      let later = 0;
      const statements = memoryCreates({ settleMargin: 0, now: () => Date.now() + later });
      const { gateway, sandbox } = open({ statements });
      sandbox.faults.next('commit-then-drop');
      await errorOf(gateway.createDeposit(deposit));
      const [{ id = '' } = {}] = sandbox.payments;
      later = 3_600_000;
      let reads = 0;
      const meanwhile: Creates = {
        ...statements,
        async read(key) {
          const found = await statements.read(key);
          reads += 1;
          if (reads === 1) await gateway.settle('order-1', 'not_created');
          return found;
        },
      };
      const other = new GatewayClient({ ...sandbox.clientOptions, store: storeOf(meanwhile) });
      if (resolution === 'not_created') {
        expect(await errorOf(other.settle('order-1', resolution))).toMatchObject({
          name: 'InvalidRequestError',
          message: expect.stringContaining('is free: its last create made no payment'),
        });
      } else {
        await other.settle('order-1', id);
        expect(await gateway.find('order-1')).toMatchObject({ state: 'created', paymentId: id });
      }
    },
  );

  it('cannot be overtaken by a process that was paused: it sends nothing after its time', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const statements = memoryCreates();
    const pause = () => vi.setSystemTime(Date.now() + 60_000);
    const { gateway, sandbox } = open({ statements: afterInsert(statements, pause) });
    const error = await errorOf(gateway.createWithdrawal(PAYOUT, { timeout: 30_000 }));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'timeout', outcome: 'not_sent' });
    expect(sandbox.payments).toEqual([]);
    expect(await doubtsIn(statements)).toEqual([]);
  });
});

it('what a getter or toJSON answers is read once: the hash is of the sent value', async () => {
  const { gateway, sent } = scripted(memoryCreates(), created());
  let reads = 0;
  const purpose = {
    get n() {
      reads += 1;
      return reads;
    },
    at: { toJSON: () => `read ${++reads}` },
  };
  const request = { ...deposit, additionalParameters: { purpose } };
  await gateway.createDeposit(request);
  expect([reads, JSON.parse(sent[0]?.body ?? '').additionalParameters]).toEqual([
    2,
    { purpose: { n: 1, at: 'read 2' } },
  ]);
  const known = { ...deposit, additionalParameters: { purpose: { n: 1, at: 'read 2' } } };
  expect(await gateway.createDeposit(known)).toHaveProperty('replayed', true);
});

describe('a second payment', () => {
  it('is not one whose id the gateway writes in another case', async () => {
    const shown = (id: string) => created({ id, paymentStatus: 'COMPLETED' });
    const { gateway } = scripted(memoryCreates(), created(), shown(ID), shown(ID.toUpperCase()));
    const paid: string[] = [];
    const handler = createWebhookHandler({
      gateway,
      onPaid: ({ payment }) => void paid.push(payment.id),
      onEvent() {},
    });
    await gateway.createDeposit(deposit);
    for (const id of [ID, ID.toUpperCase()]) {
      const body = JSON.stringify({ id });
      expect((await handler(new Request('https://shop.example', { method: 'POST', body }))).status).toBe(200);
    }
    expect(paid).toHaveLength(1);
  });

  it('is not advised by an error while the first request is in doubt', async () => {
    const { gateway, sandbox } = open();
    sandbox.faults.next('commit-then-drop');
    await errorOf(gateway.createWithdrawal(PAYOUT));
    const error = await errorOf(gateway.createWithdrawal({ ...PAYOUT, description: 'again' }));
    expect(error).toMatchObject({ outcome: 'unknown', differing: ['other fields'] });
    expect(String(error)).toContain('may have made a payment: settle it before you create another');
    expect(String(error)).not.toContain('new reference');
  });
});
