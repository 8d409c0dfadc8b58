// Callbacks that were lost, and the sweep that finds what they would have told.
import fc from 'fast-check';
import {
  createWebhookHandler,
  GatewayClient,
  type GatewayEvent,
  isFinal,
  memoryInbox,
  memoryJournal,
  type Payment,
} from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { pauseAfter } from '../../src/journal/sweep.ts';
import { tries } from '../support/arbitraries.ts';
import { abortedByClaim } from '../support/claims.ts';
import { errorOf, OTHER_ID, PAYOUT } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** A shop that no callback reaches, and a clock that stands still. */
function openShop(options: SandboxOptions = {}, onPayment: (payment: Payment) => unknown = () => {}) {
  const clock = { now: 1_700_000_000_000 };
  const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }), ...options });
  const journal = memoryJournal({ now: () => clock.now });
  const events: GatewayEvent[] = [];
  const lookups: string[] = [];
  const effects: string[] = [];
  const gateway = new GatewayClient({
    ...sandbox.clientOptions,
    journal,
    retries: 0,
    onEvent: event => {
      events.push(event);
      if (event.type === 'request' && event.operation === 'lookup') lookups.push(event.paymentId ?? '');
    },
  });
  const handler = createWebhookHandler({
    gateway,
    inbox: memoryInbox(),
    onPayment: async payment => {
      await onPayment(payment);
      if (isFinal(payment)) effects.push(payment.reference ?? '');
    },
    onError: () => {},
  });
  const sweep = (changes: object = {}) => gateway.sweep({ handler, olderThan: 0, ...changes });
  const create = async (reference: string) => {
    const { payment } = await gateway.createWithdrawal({ ...PAYOUT, reference });
    return payment.id;
  };
  /** A payment that is completed, and whose callback is lost. */
  const lose = async (reference: string) => {
    const id = await create(reference);
    await sandbox.complete(id);
    return id;
  };
  const warnings = () => events.flatMap(event => (event.type === 'warning' ? [event.code] : []));
  const messages = () => events.flatMap(event => (event.type === 'warning' ? [event.message] : []));
  return { clock, sandbox, journal, gateway, handler, sweep, create, lose, effects, lookups, warnings, messages };
}

const NONE = { processed: 0, open: 0, gaveUp: 0, failed: 0 };

it('a handler without the journal is refused: what it confirms would settle no doubt, and could be paid again', async () => {
  const { sandbox, gateway, sweep } = openShop();
  const stranger = new GatewayClient(sandbox.clientOptions);
  const handler = createWebhookHandler({ gateway: stranger, onPayment: () => {} });
  await expect(sweep({ handler })).rejects.toThrow(
    "sweep: the handler's gateway has no journal, so the callbacks that it takes settle no doubt: pass the client that creates to createWebhookHandler.",
  );
  expect(await gateway.sweep({ handler, ids: [] })).toEqual(NONE);
});

describe('a payment whose callback was lost', () => {
  it('takes effect by the sweep, once, and is not looked at again', async () => {
    const { sweep, lose, effects, lookups, clock } = openShop();
    await lose('payout-1');
    expect(await sweep()).toEqual({ ...NONE, processed: 1 });
    expect(effects).toEqual(['payout-1']);
    clock.now += 30 * DAY;
    expect([await sweep(), effects.length, lookups.length]).toEqual([NONE, 1, 1]);
  });

  it('takes effect also where somebody has looked at it before, without an effect', async () => {
    const { sweep, lose, gateway, effects } = openShop();
    await lose('payout-1');
    expect((await gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-1' })).payment.paymentStatus).toBe(
      'COMPLETED',
    );
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });

  it('is left to its callback at first', async () => {
    const { sweep, lose, clock, effects } = openShop();
    await lose('payout-1');
    clock.now += MINUTE - 1;
    expect(await sweep({ olderThan: undefined })).toEqual(NONE);
    clock.now += 1;
    expect([await sweep({ olderThan: undefined }), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });

  it('is found among many, each once, by three sweeps at a time', { tags: 'long' }, async () => {
    const { sweep, lose, effects, lookups } = openShop();
    const references = Array.from({ length: 120 }, (_, index) => `payout-${index}`);
    for (const reference of references) await lose(reference);
    const swept = await Promise.all([sweep(), sweep(), sweep({ concurrency: 3 })]);
    expect(swept.reduce((sum, { processed }) => sum + processed, 0)).toBe(120);
    expect([effects.toSorted(), lookups.length]).toEqual([references.toSorted(), 120]);
  });
});

describe('a payment whose callback came', () => {
  it('costs the sweep nothing once it is final', async () => {
    const shop = openShop({ fetch: (url, init) => shop.handler(new Request(url, init)) });
    await shop.lose('payout-1');
    await shop.sandbox.idle();
    expect([shop.effects, shop.lookups.length]).toEqual([['payout-1'], 1]);
    expect([await shop.sweep(), shop.lookups.length]).toEqual([NONE, 1]);
  });

  it('is looked at if its effect failed then', async () => {
    let isDown = true;
    const shop = openShop({ fetch: (url, init) => shop.handler(new Request(url, init)) }, () => {
      if (isDown) throw new Error('shop');
    });
    await shop.lose('payout-1');
    await shop.sandbox.idle();
    isDown = false;
    expect([await shop.sweep(), shop.effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });

  it('is looked at again if a later final status, such as a chargeback, had its effect fail', {
    tags: 'long',
  }, async () => {
    fakeTimers();
    let isDown = false;
    const shop = openShop({ fetch: (url, init) => shop.handler(new Request(url, init)) }, () => {
      if (isDown) throw new Error('shop');
    });
    const id = await shop.lose('payout-1');
    await shop.sandbox.idle();
    shop.clock.now += 60 * DAY;
    isDown = true;
    await shop.sandbox.fail(id, { force: true });
    // A record that differs from what took effect is looked up again after half a second.
    const patiently = <T>(work: Promise<T>) => whileTimePasses(work, 100);
    await patiently(shop.sandbox.idle());
    expect([await patiently(shop.sweep()), shop.effects.length]).toEqual([{ ...NONE, failed: 1 }, 1]);
    isDown = false;
    shop.clock.now += DAY;
    expect([await patiently(shop.sweep()), shop.effects.length]).toEqual([{ ...NONE, processed: 1 }, 2]);
    shop.clock.now += DAY;
    expect(await shop.sweep()).toEqual(NONE);
  });
});

describe('a reference with two payments', () => {
  it('is looked at until both are final, and both take effect', async () => {
    const { sweep, lose, gateway, journal, sandbox, effects, clock } = openShop();
    await lose('payout-1');
    const second = new GatewayClient(sandbox.clientOptions);
    const { payment } = await second.createWithdrawal({ ...PAYOUT, reference: 'payout-1' });
    await gateway.reconcile(payment);
    expect((await gateway.find('payout-1'))?.conflictingIds).toEqual([payment.id]);
    expect([await sweep(), effects]).toEqual([{ ...NONE, open: 1 }, ['payout-1']]);
    await sandbox.complete(payment.id);
    clock.now += MINUTE;
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1', 'payout-1']]);
    clock.now += DAY;
    expect([await sweep(), await journal.list({ states: ['begun'] })]).toEqual([NONE, { rows: [], now: clock.now }]);
  });
});

describe('a reference with two payments, of which one', () => {
  const HOUR = 60 * MINUTE;
  /** Of the second the sandbox has a record too, and the journal its id. */
  async function openTwo() {
    const shop = openShop();
    const id = await shop.create('payout-1');
    const second = new GatewayClient(shop.sandbox.clientOptions);
    const { payment } = await second.createWithdrawal({ ...PAYOUT, reference: 'payout-1' });
    await shop.gateway.reconcile(payment);
    return { ...shop, id, twin: payment.id };
  }

  it('is at work elsewhere is not given up, however old it is', async () => {
    const { gateway, sandbox, sweep, clock, warnings, id, twin } = await openTwo();
    await sandbox.complete(twin);
    clock.now += 60 * DAY;
    const before = warnings();
    const handler = {
      async process(asked: string) {
        const payment = await gateway.getPayment(asked);
        return { result: asked === id ? ('busy' as const) : ('ran' as const), payment };
      },
    };
    expect([await sweep({ handler }), warnings()]).toEqual([{ ...NONE, open: 1 }, before]);
  });

  it('is to be left alone for longer than the other, is left alone for that long', async () => {
    const { sweep, clock, id } = await openTwo();
    const process = (asked: string) => Promise.reject({ code: 'busy', retryAfter: asked === id ? 2 * HOUR : HOUR });
    expect(await sweep({ handler: { process } })).toEqual({ ...NONE, failed: 1 });
    clock.now += 2 * HOUR - 1;
    expect(await sweep()).toEqual(NONE);
    // The look took a moment of real time, which its pause begins after.
    clock.now += 1_000;
    expect(await sweep()).toEqual({ ...NONE, open: 1 });
  });
});

describe('a payment that is not final', () => {
  it('is looked at ever less often', { tags: 'long' }, async () => {
    const { sweep, create, sandbox, clock, effects } = openShop();
    const id = await create('payout-1');
    const begun = clock.now;
    const looks: number[] = [];
    for (let minutes = 0; minutes < 2_000; minutes++) {
      // Each look takes a moment of real time, which its pause begins after.
      clock.now = begun + minutes * MINUTE + looks.length * 1_000;
      if ((await sweep()).open > 0) looks.push(minutes);
    }
    expect(looks).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 871, 1231, 1591, 1951]);
    await sandbox.complete(id);
    clock.now += 6 * 60 * MINUTE;
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });

  it('is never looked at within its pause, and always by the first sweep after it', { tags: 'long' }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 90 * MINUTE }), { minLength: 5, maxLength: 25 }),
        async waits => {
          const { sweep, create, clock } = openShop();
          await create('payout-1');
          let next = clock.now;
          let looks = 0;
          for (const wait of waits) {
            clock.now += wait;
            const isDue = clock.now >= next;
            expect(await sweep()).toEqual({ ...NONE, open: isDue ? 1 : 0 });
            if (!isDue) continue;
            looks += 1;
            next = clock.now + pauseAfter(looks);
          }
        },
      ),
      tries(10),
    );
  });

  it('is given up in the end, loudly and once; its callback takes effect all the same', async () => {
    const shop = openShop({ fetch: (url, init) => shop.handler(new Request(url, init)) });
    const id = await shop.create('payout-1');
    shop.clock.now += 30 * DAY;
    expect(await shop.sweep()).toEqual({ ...NONE, open: 1 });
    shop.clock.now += DAY;
    expect([await shop.sweep(), shop.warnings()]).toEqual([{ ...NONE, gaveUp: 1 }, ['sweep_gave_up']]);
    shop.clock.now += DAY;
    expect([await shop.sweep(), shop.warnings().length]).toEqual([NONE, 1]);
    await shop.sandbox.complete(id);
    await shop.sandbox.idle();
    expect(shop.effects).toEqual(['payout-1']);
  });

  it('is looked at again after it was given up, if its callback came and its effect failed', async () => {
    let isDown = true;
    const shop = openShop({ fetch: (url, init) => shop.handler(new Request(url, init)) }, ({ paymentStatus }) => {
      if (isDown && paymentStatus === 'COMPLETED') throw new Error('shop');
    });
    const id = await shop.create('payout-1');
    shop.clock.now += 31 * DAY;
    expect(await shop.sweep()).toEqual({ ...NONE, gaveUp: 1 });
    await shop.sandbox.complete(id);
    await shop.sandbox.idle();
    isDown = false;
    expect([await shop.sweep(), shop.effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });

  it('is not given up while its effect is at work elsewhere, which may fail', async () => {
    const { gateway, lose, sweep, clock, warnings } = openShop();
    await lose('payout-1');
    clock.now += 60 * DAY;
    const inbox = { run: async () => 'busy' as const };
    const handler = createWebhookHandler({ gateway, inbox, onPayment: () => {} });
    expect([await sweep({ handler }), warnings()]).toEqual([{ ...NONE, open: 1 }, []]);
    clock.now += DAY;
    expect(await sweep()).toEqual({ ...NONE, processed: 1 });
  });

  it.each([
    ['comes', 'reconcile', { ...NONE, processed: 1 }],
    ['takes effect', 'acknowledge', NONE],
  ] as const)('is not given up if its callback %s while it is looked at', async (_, tell, later) => {
    const { gateway, create, sweep, sandbox, clock, warnings } = openShop();
    const id = await create('payout-1');
    clock.now += 60 * DAY;
    const handler = {
      async process() {
        const payment = await gateway.getPayment(id);
        await sandbox.complete(id);
        await gateway[tell](await gateway.getPayment(id));
        return { result: 'ran' as const, payment };
      },
    };
    expect([await sweep({ handler }), warnings()]).toEqual([{ ...NONE, open: 1 }, []]);
    expect([await sweep(), warnings()]).toEqual([later, []]);
  });

  it('is not given up while its lookup fails', async () => {
    const { sweep, create, sandbox, clock } = openShop();
    await create('payout-1');
    clock.now += 60 * DAY;
    sandbox.faults.next('drop', { on: 'lookup' });
    expect(await sweep()).toEqual({ ...NONE, failed: 1 });
    clock.now += DAY;
    expect(await sweep()).toEqual({ ...NONE, gaveUp: 1 });
  });
});

describe('a doubt', () => {
  it('whose payment is known is settled, and takes effect', async () => {
    const { sweep, gateway, sandbox, effects } = openShop();
    sandbox.faults.next('commit-then-cut');
    await errorOf(gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-1' }));
    const paymentId = sandbox.payments[0]?.id ?? '';
    await sandbox.complete(paymentId);
    expect(await gateway.inDoubt()).toHaveLength(1);
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
    expect([await gateway.inDoubt(), await gateway.find('payout-1')]).toEqual([
      [],
      expect.objectContaining({ state: 'created', paymentId }),
    ]);
  });

  it('whose payment never ends is given up as any other', async () => {
    const { sweep, gateway, sandbox, clock, warnings } = openShop();
    sandbox.faults.next('commit-then-cut');
    await errorOf(gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-1' }));
    clock.now += 31 * DAY;
    expect([await sweep(), warnings()]).toEqual([{ ...NONE, gaveUp: 1 }, ['sweep_gave_up']]);
  });

  it('without an id is left to its callback, or to an operator', async () => {
    const { sweep, gateway, sandbox, lookups } = openShop();
    sandbox.faults.next('commit-then-drop');
    await errorOf(gateway.createWithdrawal(PAYOUT));
    expect([await sweep(), lookups, await gateway.inDoubt()]).toEqual([NONE, [], [expect.anything()]]);
  });
});

it('a doubt in which two payments are known is looked at for both', async () => {
  const { gateway, sandbox, sweep, effects, lookups } = openShop();
  sandbox.faults.next('commit-then-cut');
  await errorOf(gateway.createWithdrawal(PAYOUT));
  const twin = await new GatewayClient(sandbox.clientOptions).createWithdrawal(PAYOUT);
  await gateway.reconcile(twin.payment);
  const ids = sandbox.payments.map(({ id }) => id);
  for (const id of ids) await sandbox.complete(id);
  lookups.length = 0;
  expect(await sweep()).toEqual({ ...NONE, processed: 1 });
  expect([lookups.toSorted(), effects]).toEqual([ids.toSorted(), [PAYOUT.reference, PAYOUT.reference]]);
});

describe('a final payment that the handler alone has seen take effect', () => {
  it('is done without a warning, and never told as given up', async () => {
    const { gateway, lose, sweep, clock, warnings } = openShop();
    const payment = await gateway.getPayment(await lose('payout-1'));
    const handler = { process: async () => ({ result: 'ran' as const, payment }) };
    clock.now += 60 * DAY;
    expect([await sweep({ handler }), warnings()]).toEqual([{ ...NONE, processed: 1 }, []]);
  });

  it('is done, although the journal has heard of its end while it was looked at', async () => {
    const { gateway, create, sandbox, sweep, clock } = openShop();
    const id = await create('payout-1');
    await sandbox.complete(id);
    const handler = {
      async process() {
        const payment = await gateway.getPayment(id);
        await gateway.reconcile(payment);
        return { result: 'ran' as const, payment };
      },
    };
    expect(await sweep({ handler })).toEqual({ ...NONE, processed: 1 });
    clock.now += DAY;
    expect(await sweep({ handler })).toEqual(NONE);
  });

  it('is done, although the gateway has changed its end since the journal heard of it', async () => {
    const { gateway, lose, sweep, clock } = openShop();
    const payment = await gateway.getPayment(await lose('payout-1'));
    await gateway.reconcile(payment);
    const failed = { ...payment, paymentStatus: 'FAILED' as const };
    const handler = { process: async () => ({ result: 'ran' as const, payment: failed }) };
    expect(await sweep({ handler })).toEqual({ ...NONE, processed: 1 });
    clock.now += DAY;
    expect(await sweep({ handler })).toEqual(NONE);
  });
});

describe('a payment that another worker has', () => {
  it('is left open, for a later sweep', async () => {
    const { gateway, lose, sweep, clock, effects } = openShop();
    const id = await lose('payout-1');
    const busy = { process: async () => ({ result: 'busy' as const, payment: await gateway.getPayment(id) }) };
    expect(await gateway.sweep({ handler: busy, olderThan: 0 })).toEqual({ ...NONE, open: 1 });
    clock.now += MINUTE + 1_000;
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });
});

describe('an onPayment that fails', () => {
  it.each<[string, (gateway: ReturnType<typeof openShop>['gateway']) => unknown]>([
    ['because the gateway does not know another payment', gateway => gateway.getPayment(OTHER_ID)],
    ['with a pause that somebody else asks for', () => Promise.reject(Object.assign(new Error(), { retryAfter: 1 }))],
  ])('%s has failed for its own payment, until it succeeds, however old that is', async (_, fail) => {
    let isDown = true;
    const shop = openShop({}, ({ reference }) => (isDown && reference === 'payout-1' ? fail(shop.gateway) : undefined));
    for (const reference of ['payout-1', 'payout-2']) await shop.lose(reference);
    expect(await shop.sweep({ concurrency: 1 })).toEqual({ ...NONE, processed: 1, failed: 1 });
    shop.clock.now += 60 * DAY;
    expect([await shop.sweep(), shop.warnings()]).toEqual([{ ...NONE, failed: 1 }, ['sweep_failed', 'sweep_failed']]);
    isDown = false;
    shop.clock.now += DAY;
    expect([await shop.sweep(), shop.effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-2', 'payout-1']]);
  });
});

it('a payment that has taken effect is given up where another one of its reference never ends', async () => {
  const { gateway, sandbox, sweep, create, clock, warnings } = openShop();
  const id = await create('payout-1');
  const twin = await new GatewayClient(sandbox.clientOptions).createWithdrawal({ ...PAYOUT, reference: 'payout-1' });
  await gateway.reconcile(twin.payment);
  await sandbox.complete(id);
  expect(await sweep()).toEqual({ ...NONE, open: 1 });
  clock.now += 31 * DAY;
  expect(await sweep()).toEqual({ ...NONE, gaveUp: 1 });
  expect(warnings()).toContain('sweep_gave_up');
  clock.now += 31 * DAY;
  expect(await sweep()).toEqual(NONE);
});

it('a payment that the gateway has forgotten is not given up because another one of its reference has taken effect', async () => {
  const { gateway, sandbox, sweep, lose, clock } = openShop();
  const id = await lose('payout-1');
  const twin = await new GatewayClient(sandbox.clientOptions).createWithdrawal({ ...PAYOUT, reference: 'payout-1' });
  await gateway.reconcile(twin.payment);
  await sandbox.complete(twin.payment.id);
  await gateway.reconcile(await gateway.getPayment(id));
  clock.now += 60 * DAY;
  const handler = {
    async process(asked: string) {
      if (asked === id) throw Object.assign(new Error(), { code: 'unknown_payment' });
      return { result: 'ran' as const, payment: await gateway.getPayment(asked) };
    },
  };
  expect(await sweep({ handler })).toEqual({ ...NONE, failed: 1 });
});

it('a payment is not given up beside one that the gateway does not know, if its end is corrected while it is looked at', async () => {
  const { gateway, sandbox, sweep, lose, clock } = openShop();
  const id = await lose('payout-1');
  const payment = await gateway.getPayment(id);
  const twin = await new GatewayClient(sandbox.clientOptions).createWithdrawal({ ...PAYOUT, reference: 'payout-1' });
  for (const seen of [payment, twin.payment]) await gateway.reconcile(seen);
  clock.now += 60 * DAY;
  const corrected = { ...payment, paymentStatus: 'FAILED' as const };
  const handler = {
    async process(asked: string) {
      if (asked === id) return { result: 'ran' as const, payment };
      await gateway.reconcile(corrected);
      throw Object.assign(new Error(), { code: 'unknown_payment' });
    },
  };
  expect(await sweep({ handler })).toEqual({ ...NONE, open: 1 });
  const later = { process: async () => ({ result: 'ran' as const, payment: corrected }) };
  expect(await sweep({ handler: later })).toEqual({ ...NONE, processed: 1 });
});

it('a payment that the gateway has forgotten is done once that is acknowledged', async () => {
  const { gateway, lose, sweep, clock } = openShop();
  await gateway.reconcile(await gateway.getPayment(await lose('payout-1')));
  const handler = { process: () => Promise.reject({ code: 'unknown_payment' }) };
  expect(await sweep({ handler })).toEqual({ ...NONE, failed: 1 });
  const { payment } = (await gateway.find('payout-1')) ?? {};
  await gateway.acknowledge(payment as Payment);
  clock.now += DAY;
  expect(await sweep({ handler })).toEqual(NONE);
});

it('a payment that is final is never given up before it has taken effect', async () => {
  const { gateway, lose, clock, sweep, effects } = openShop();
  await gateway.reconcile(await gateway.getPayment(await lose('payout-1')));
  clock.now += 60 * DAY;
  const process = () => Promise.reject({ code: 'unknown_payment' });
  expect(await sweep({ handler: { process } })).toEqual({ ...NONE, failed: 1 });
  clock.now += DAY;
  expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
});

describe('what fails', () => {
  it('is tried again after its pause, and reported', async () => {
    let isDown = true;
    const { sweep, lose, clock, warnings, effects } = openShop({}, () => {
      if (isDown) throw new Error('the shop is on fire');
    });
    await lose('payout-1');
    expect([await sweep(), warnings()]).toEqual([{ ...NONE, failed: 1 }, ['sweep_failed']]);
    isDown = false;
    expect(await sweep()).toEqual(NONE);
    clock.now += MINUTE;
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'no'],
  ])(
    'by an onPayment that rejects with %s is tried again too, and keeps nobody else from their turn',
    async (_, reason) => {
      let isDown = true;
      const { sweep, lose, clock, effects } = openShop({}, ({ reference }) =>
        isDown && reference === 'payout-1' ? Promise.reject(reason) : undefined,
      );
      for (const reference of ['payout-1', 'payout-2', 'payout-3']) await lose(reference);
      expect([await sweep({ concurrency: 1 }), effects]).toEqual([
        { ...NONE, processed: 2, failed: 1 },
        ['payout-2', 'payout-3'],
      ]);
      isDown = false;
      clock.now += MINUTE;
      expect([await sweep(), effects.at(-1)]).toEqual([{ ...NONE, processed: 1 }, 'payout-1']);
    },
  );

  it('by Retry-After ends the sweep, which asks nothing more until then', { tags: 'long' }, async () => {
    const { clock, handler, gateway, journal, lose, lookups } = openShop();
    for (let index = 0; index < 30; index++) await lose(`payout-${index}`);
    const busy = new GatewayClient({
      journal,
      baseUrl: 'https://gateway.example',
      apiKey: 'key',
      signKey: 'sign',
      retries: 0,
      fetch: async () => new Response('{}', { status: 429, headers: { 'retry-after': '600' } }),
    });
    const limited = createWebhookHandler({
      gateway: busy,
      inbox: memoryInbox(),
      onPayment: () => {},
      onError: () => {},
    });
    const swept = await gateway.sweep({ handler: limited, olderThan: 0, concurrency: 2 });
    expect(swept).toEqual({ ...NONE, failed: 2 });
    clock.now += 600_000 - 1;
    // Those that were not asked for are not held back, those that were are.
    expect(await gateway.sweep({ handler, olderThan: 0 })).toEqual({ ...NONE, processed: 28 });
    clock.now += 1_000;
    expect([await gateway.sweep({ handler, olderThan: 0 }), lookups.length]).toEqual([{ ...NONE, processed: 2 }, 30]);
  });

  it('with a Retry-After that is no number asks for no pause', async () => {
    const { sweep, lose, clock } = openShop();
    for (const reference of ['payout-1', 'payout-2']) await lose(reference);
    const process = () => Promise.reject({ code: 'busy', retryAfter: '7200' });
    expect(await sweep({ handler: { process }, concurrency: 1 })).toEqual({ ...NONE, failed: 2 });
    clock.now += MINUTE + 1_000;
    expect(await sweep()).toEqual({ ...NONE, processed: 2 });
  });

  it('in the journal fails the sweep, and what it had leased is looked at once the lease has ended', async () => {
    const { gateway, lose, clock, sweep, effects } = openShop();
    await lose('payout-1');
    const process = vi.fn(() => new Promise<never>(() => {}));
    void gateway.sweep({ handler: { process }, olderThan: 0 });
    await expect.poll(() => process.mock.calls.length).toBe(1);
    expect(await sweep()).toEqual(NONE);
    clock.now += 2 * MINUTE;
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });
});

describe('a sweep', () => {
  it('looks at no more than it may, those due first coming first', async () => {
    const { sweep, lose, clock, effects } = openShop();
    for (const reference of ['a', 'b', 'c']) {
      await lose(reference);
      clock.now += 1;
    }
    expect([await sweep({ limit: 2 }), effects.toSorted()]).toEqual([{ ...NONE, processed: 2 }, ['a', 'b']]);
  });

  it('that is stopped gives back what it has not looked at', async () => {
    const stop = new AbortController();
    const { sweep, lose, effects } = openShop({}, () => stop.abort());
    for (let index = 0; index < 20; index++) await lose(`payout-${index}`);
    // What it was asked to leave has not failed.
    expect(await sweep({ concurrency: 4, signal: stop.signal })).toMatchObject({ open: 0, gaveUp: 0, failed: 0 });
    const done = effects.length;
    expect(done).toBeLessThan(20);
    expect((await sweep()).processed).toBeGreaterThanOrEqual(20 - done);
    expect(new Set(effects).size).toBe(20);
    expect(effects).toHaveLength(20);
  });

  it('gives each payment its time and the signal, and counts what took effect before it was stopped', async () => {
    const { gateway, lose, lookups, journal } = openShop();
    const id = await lose('payout-1');
    const stop = new AbortController();
    const asked: unknown[] = [];
    const payment = { ...(await gateway.getPayment(id)) };
    const { read } = journal;
    let reads = 0;
    journal.read = key => {
      reads += 1;
      return read(key);
    };
    const handler = {
      process: async (...given: unknown[]) => {
        asked.push(...given);
        stop.abort();
        return { result: 'handled', payment } as never;
      },
    };
    expect(await gateway.sweep({ handler, olderThan: 0, signal: stop.signal })).toEqual({ ...NONE, processed: 1 });
    expect(asked).toEqual([id, { signal: stop.signal, timeout: 30_000 }]);
    // Its row is as it was claimed.
    expect([reads, lookups.length]).toEqual([0, 1]);
    expect(await gateway.sweep({ handler, olderThan: 0 })).toEqual(NONE);
    expect(await gateway.sweep({ handler, ids: [id], signal: AbortSignal.abort() })).toEqual(NONE);
  });

  it('begins nothing with a signal that is aborted already', async () => {
    const { sweep, lose, journal, effects } = openShop();
    await lose('payout-1');
    journal.claim = () => Promise.reject(new Error('It was asked for work.'));
    expect(await sweep({ signal: AbortSignal.abort() })).toEqual(NONE);
    expect(effects).toEqual([]);
  });

  describe('of a list of ids', () => {
    const ids = ['a', 'b', 'c'];
    /** Each is answered so. */
    const sweepWith = (fail: (id: string) => unknown, options: object = {}) => {
      const asked: string[] = [];
      const process = async (id: string) => {
        asked.push(id);
        throw fail(id);
      };
      const swept = openShop().gateway.sweep({ handler: { process }, ids, concurrency: 1, ...options });
      return { asked, swept };
    };

    it('gives a gateway the pause that it asks for: the rest is left', async () => {
      const { asked, swept } = sweepWith(() => ({ code: 'busy', retryAfter: 1_000 }));
      expect([await swept, asked]).toEqual([{ ...NONE, failed: 1 }, ['a']]);
    });

    it('leaves the rest when it is stopped, and counts none of those that were stopped', async () => {
      const stop = new AbortController();
      const { asked, swept } = sweepWith(
        id => {
          if (id === 'b') stop.abort();
          return new Error('failed');
        },
        { signal: stop.signal },
      );
      expect([await swept, asked]).toEqual([{ ...NONE, failed: 1 }, ['a', 'b']]);
    });

    it.each(['unknown_payment', 'payment_not_found'])('counts as failed what fails with %s', async code => {
      expect(await sweepWith(() => ({ code })).swept).toEqual({ ...NONE, failed: 3 });
    });
  });

  describe('at a gateway that does not know a payment', () => {
    const unknown = { process: () => Promise.reject({ code: 'unknown_payment' }) };

    it('fails, and says so, where the gateway had answered with it: it may be another gateway', async () => {
      const { gateway, create, messages, clock, sweep } = openShop();
      const another = openShop();
      await create('payout-1');
      expect(await gateway.sweep({ handler: another.handler, olderThan: 0 })).toEqual({ ...NONE, failed: 1 });
      expect(messages()).toEqual([
        expect.stringMatching(
          /^The payment of reference "payout-1" could not be processed, and is tried again later: .*404/,
        ),
      ]);
      clock.now += 2 * MINUTE;
      expect(await sweep()).toEqual({ ...NONE, open: 1 });
    });

    it('gives up once it is older than giveUpAfter: the gateway may have forgotten it', async () => {
      const { gateway, create, clock, warnings } = openShop();
      await create('payout-1');
      clock.now += 31 * DAY;
      expect(await gateway.sweep({ handler: unknown, olderThan: 0 })).toEqual({ ...NONE, gaveUp: 1 });
      expect(warnings()).toEqual(['sweep_gave_up']);
    });

    it.each(['unknown_payment', 'payment_not_found'])(
      'goes on where an error alone has named the payment: there may be none (%s)',
      async code => {
        const { gateway, sandbox, messages } = openShop();
        const unknown = { process: () => Promise.reject({ code }) };
        sandbox.faults.next('commit-then-cut');
        await errorOf(gateway.createWithdrawal(PAYOUT));
        const before = messages();
        expect(await gateway.sweep({ handler: unknown, olderThan: 0 })).toEqual({ ...NONE, open: 1 });
        expect(messages()).toEqual(before);
      },
    );
  });

  it('tells why a payment could not be processed', async () => {
    const { gateway, lose, messages } = openShop();
    await lose('payout-1');
    const process = () => Promise.reject(new Error('no ledger'));
    expect(await gateway.sweep({ handler: { process }, olderThan: 0 })).toEqual({ ...NONE, failed: 1 });
    // A database library puts the values of a query into its words.
    expect(messages()).toEqual([
      'The payment of reference "payout-1" could not be processed, and is tried again later: Error',
    ]);
  });

  it('of a list of ids needs no journal', { tags: 'long' }, async () => {
    const { handler, lose, create, sandbox, effects } = openShop();
    const gateway = new GatewayClient(sandbox.clientOptions);
    const ids = [await lose('payout-1'), await create('payout-2'), 'no-id', OTHER_ID];
    async function* rows() {
      yield* ids;
    }
    const found = { processed: 1, open: 1, gaveUp: 0, failed: 2 };
    expect(await gateway.sweep({ handler, ids: rows() })).toEqual(found);
    expect(await gateway.sweep({ handler, ids })).toEqual(found);
    expect(await gateway.sweep({ handler, ids, limit: 1 })).toEqual({ ...NONE, processed: 1 });
    // None of them is left out unless that is asked for.
    const many = Array.from({ length: 1_001 }, () => ids[0] as string);
    expect(await gateway.sweep({ handler, ids: many })).toEqual({ ...NONE, processed: 1_001 });
    expect(effects).toEqual(['payout-1']);
  });

  it.each<[string, object, RegExp]>([
    ['no handler', { handler: undefined }, /handler: must be what createWebhookHandler returns/],
    ['a handler of another kind', { handler: () => {} }, /handler: must be what createWebhookHandler returns/],
    ['a mistyped option', { olderThen: 1 }, /olderThan/],
    ['an age in words', { olderThan: '1 h' }, /olderThan: must be milliseconds, 0 or more/],
    ['a patience in words', { giveUpAfter: '30 d' }, /giveUpAfter: must be milliseconds/],
    ['a negative patience', { giveUpAfter: -1 }, /giveUpAfter: must be milliseconds/],
    ['a negative age', { olderThan: -1 }, /olderThan: must be milliseconds, 0 or more/],
    ['no limit', { limit: 0 }, /limit: must be 1 or more/],
    ['half a payment', { limit: 1.5 }, /limit: must be a whole number/],
    ['no ids', { ids: null }, /ids: must be a list or an async iterable of ids/],
    ['a map of ids', { ids: {} }, /ids: must be a list or an async iterable of ids/],
    ['ids that are none', { ids: 7 }, /ids: must be a list or an async iterable of ids/],
    ['a schedule for ids', { ids: [], olderThan: 1 }, /olderThan: is for a sweep of the journal, without ids/],
  ])('refuses %s', async (_, changes, message) => {
    const { sweep } = openShop();
    const options = 'ids' in changes && !('olderThan' in changes) ? { olderThan: undefined, ...changes } : changes;
    await expect(sweep(options)).rejects.toThrow(message);
  });

  it('without a journal and without ids says what it needs', async () => {
    const { handler, sandbox } = openShop();
    const gateway = new GatewayClient(sandbox.clientOptions);
    await expect(gateway.sweep({ handler })).rejects.toThrow('sweep needs a client with a journal');
  });
});

describe('what a sweep claims', () => {
  it('and does not begin, because it is to stop, is given back at once', async () => {
    const { journal, sweep, lose, effects } = openShop();
    for (const reference of ['payout-1', 'payout-2']) await lose(reference);
    await sweep({ signal: abortedByClaim(journal) });
    expect(effects).toEqual([]);
    // The clock stands still: what is leased would be left out.
    await sweep();
    expect(effects.toSorted()).toEqual(['payout-1', 'payout-2']);
  });

  it('is as much as it works on at once, also while some of that is under way', async () => {
    const { journal, sweep, lose, effects } = openShop();
    for (const index of [1, 2, 3, 4]) await lose(`payout-${index}`);
    const claim = vi.spyOn(journal, 'claim');
    await sweep({ concurrency: 2 });
    expect(effects).toHaveLength(4);
    expect(new Set(claim.mock.calls.map(([, count]) => count))).toEqual(new Set([2]));
  });
});
