import { describe, expect, it, vi } from 'vitest';
import { GatewayClient } from '../../src/client.ts';
import { Sandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import type { Payment } from '../../src/schemas/records/payment.ts';
import { errorOf, KEYS, OTHER_ID, PAYOUT } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';
import { DAY, MINUTE, NONE_SWEPT as NONE, openUpkeptShop } from '../support/upkept-shop.ts';
import { json, wire } from '../support/wire.ts';

/** A shop that no callback reaches, and a clock that stands still. */
function openShop(options: SandboxOptions = {}, onPayment: (payment: Payment) => unknown = () => {}) {
  const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }), ...options });
  const shop = openUpkeptShop(sandbox.clientOptions, onPayment);
  const create = async (reference: string) => {
    const { payment } = await shop.gateway.createWithdrawal({ ...PAYOUT, reference });
    return payment.id;
  };
  /** A payment that is completed, and whose callback is lost. */
  const lose = async (reference: string) => {
    const id = await create(reference);
    await sandbox.complete(id);
    return id;
  };
  const lookups = () =>
    shop.events.flatMap(event => (event.type === 'request' && event.operation === 'lookup' ? [event.paymentId] : []));
  /** A second payment of a reference. */
  const twin = async (reference: string) =>
    (await new GatewayClient(sandbox.clientOptions).createWithdrawal({ ...PAYOUT, reference })).payment;
  const codes = () => shop.warnings().map(({ code }) => code);
  const messages = () => shop.warnings().map(({ message }) => message);
  /** A handler whose lookups are these. */
  const processing = (process: (id: string) => unknown) => ({ handler: shop.handlerOf({ process }) });
  return { ...shop, sandbox, create, lose, twin, lookups, codes, messages, processing };
}

describe('the handler', () => {
  it.each(['another store', 'no store'])('of %s is refused, because it cannot process these payments', async which => {
    const { upkeep, handlerOf, store } = openShop();
    const handler = handlerOf({ store: which === 'no store' ? undefined : { ...store } });
    await expect(upkeep({ handler })).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining("the handler's gateway has another store, or none"),
    });
  });
});

describe('a payment whose callback was lost', () => {
  it('takes effect by the sweep, once, and is not looked at again', async () => {
    const { sweep, lose, effects, lookups, sweepAfter } = openShop();
    await lose('payout-1');
    expect(await sweep()).toEqual({ ...NONE, processed: 1 });
    expect(effects).toEqual(['payout-1']);
    expect([await sweepAfter(30 * DAY), effects.length, lookups().length]).toEqual([NONE, 1, 1]);
  });

  it('takes effect also after a create has replayed its status', async () => {
    const { sweep, lose, gateway, effects } = openShop();
    await lose('payout-1');
    expect((await gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-1' })).payment.paymentStatus).toBe(
      'COMPLETED',
    );
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });

  it('is left to its callback at first', async () => {
    const { lose, effects, sweepAfter } = openShop();
    await lose('payout-1');
    expect(await sweepAfter(MINUTE - 1, { olderThan: undefined })).toEqual(NONE);
    expect([await sweepAfter(1, { olderThan: undefined }), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });
});

describe('a payment whose callback came', () => {
  it('costs the sweep nothing once it is final', async () => {
    const shop = openShop({ fetch: (url, init) => shop.handle(new Request(url, init)) });
    await shop.lose('payout-1');
    await shop.sandbox.idle();
    expect([shop.effects, shop.lookups().length]).toEqual([['payout-1'], 1]);
    expect([await shop.sweep(), shop.lookups().length]).toEqual([NONE, 1]);
  });

  it('is looked at again if a later final status, such as a chargeback, had its effect fail', {
    tags: 'long',
  }, async () => {
    fakeTimers();
    let isDown = false;
    const shop = openShop({ fetch: (url, init) => shop.handle(new Request(url, init)) }, () => {
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
    expect(await shop.sweepAfter(DAY)).toEqual(NONE);
  });
});

it('a reference with two payments is looked at until both are final, and both take effect', async () => {
  const { sweep, lose, twin, gateway, sandbox, effects, reconcile, sweepAfter } = openShop();
  await lose('payout-1');
  const payment = await twin('payout-1');
  await reconcile(payment);
  expect((await gateway.find('payout-1'))?.conflictingIds).toEqual([payment.id]);
  expect([await sweep(), effects]).toEqual([{ ...NONE, open: 1 }, ['payout-1']]);
  await sandbox.complete(payment.id);
  expect([await sweepAfter(MINUTE), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1', 'payout-1']]);
  expect([await sweepAfter(DAY), await gateway.doubts()]).toEqual([NONE, []]);
});

describe('a payment that is not final', () => {
  it('is looked at less and less often', { tags: 'long' }, async () => {
    const { sweep, create, sandbox, clock, effects, sweepAfter } = openShop();
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
    expect([await sweepAfter(6 * 60 * MINUTE), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });

  it('is given up in the end, loudly and once; its callback takes effect all the same', async () => {
    const shop = openShop({ fetch: (url, init) => shop.handle(new Request(url, init)) });
    const id = await shop.create('payout-1');
    expect(await shop.sweepAfter(30 * DAY)).toEqual({ ...NONE, open: 1 });
    expect([await shop.sweepAfter(DAY), shop.codes()]).toEqual([{ ...NONE, gaveUp: 1 }, ['sweep_gave_up']]);
    expect([await shop.sweepAfter(DAY), shop.codes().length]).toEqual([NONE, 1]);
    await shop.sandbox.complete(id);
    await shop.sandbox.idle();
    expect(shop.effects).toEqual(['payout-1']);
  });

  it('is left open while another worker has it, which may fail, however old it is', async () => {
    const { gateway, lose, codes, sweepAfter, processing } = openShop();
    await lose('payout-1');
    const busy = processing(async id => ({ result: 'busy', payment: await gateway.getPayment(id) }));
    expect([await sweepAfter(60 * DAY, busy), codes()]).toEqual([{ ...NONE, open: 1 }, []]);
    expect(await sweepAfter(DAY)).toEqual({ ...NONE, processed: 1 });
  });

  it.each([
    ['comes', 'reconcile', { ...NONE, processed: 1 }],
    ['takes effect', 'acknowledge', NONE],
  ] as const)('is not given up if its callback %s while it is looked at', async (_, tell, later) => {
    const { gateway, create, sandbox, codes, reconcile, acknowledge, sweepAfter, processing } = openShop();
    const id = await create('payout-1');
    const handled = processing(async () => {
      const payment = await gateway.getPayment(id);
      await sandbox.complete(id);
      await { reconcile, acknowledge }[tell](await gateway.getPayment(id));
      return { result: 'ran', payment };
    });
    expect([await sweepAfter(60 * DAY, handled), codes()]).toEqual([{ ...NONE, open: 1 }, []]);
    expect([await sweepAfter(MINUTE), codes()]).toEqual([later, []]);
  });

  it('is not given up while its lookup fails', async () => {
    const { create, sandbox, sweepAfter } = openShop();
    await create('payout-1');
    sandbox.faults.next('drop', { on: 'lookup' });
    expect(await sweepAfter(60 * DAY)).toEqual({ ...NONE, failed: 1 });
    expect(await sweepAfter(DAY)).toEqual({ ...NONE, gaveUp: 1 });
  });
});

describe('a doubt', () => {
  it('whose payment is known is settled, and takes effect', async () => {
    const { sweep, gateway, sandbox, effects } = openShop();
    sandbox.faults.next('commit-then-cut');
    await errorOf(gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-1' }));
    const paymentId = sandbox.payments[0]?.id ?? '';
    await sandbox.complete(paymentId);
    expect(await gateway.doubts()).toHaveLength(1);
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
    expect([await gateway.doubts(), await gateway.find('payout-1')]).toEqual([
      [],
      expect.objectContaining({ state: 'created', paymentId }),
    ]);
  });

  it('in which two payments are known is looked at for both', async () => {
    const { gateway, sandbox, twin, sweep, effects, lookups, reconcile } = openShop();
    sandbox.faults.next('commit-then-cut');
    await errorOf(gateway.createWithdrawal(PAYOUT));
    await reconcile(await twin('payout-1'));
    const ids = sandbox.payments.map(({ id }) => id);
    for (const id of ids) await sandbox.complete(id);
    const before = lookups().length;
    expect([await sweep(), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1', 'payout-1']]);
    expect(lookups().slice(before).toSorted()).toEqual(ids.toSorted());
  });

  it('without an id is left to its callback, or to an operator', async () => {
    const { sweep, gateway, sandbox, lookups } = openShop();
    sandbox.faults.next('commit-then-drop');
    await errorOf(gateway.createWithdrawal(PAYOUT));
    expect([await sweep(), lookups(), await gateway.doubts()]).toEqual([NONE, [], [expect.anything()]]);
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
    expect([await shop.sweepAfter(60 * DAY), shop.codes()]).toEqual([
      { ...NONE, failed: 1 },
      ['sweep_failed', 'sweep_failed'],
    ]);
    isDown = false;
    expect([await shop.sweepAfter(DAY), shop.effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-2', 'payout-1']]);
  });
});

describe('a payment that a look finds in another state than the store', () => {
  it('is done without a warning, and is not given up, if the handler alone has seen it take effect', async () => {
    const { gateway, lose, sweepAfter, codes, processing } = openShop();
    const payment = await gateway.getPayment(await lose('payout-1'));
    const handled = processing(async () => ({ result: 'ran', payment }));
    expect([await sweepAfter(60 * DAY, handled), codes()]).toEqual([{ ...NONE, processed: 1 }, []]);
  });

  it('is not given up, forgotten by the gateway, because another one of its reference took effect', async () => {
    const { gateway, sandbox, twin, lose, reconcile, sweepAfter, processing } = openShop();
    const id = await lose('payout-1');
    const second = await twin('payout-1');
    await reconcile(second);
    await sandbox.complete(second.id);
    await reconcile(await gateway.getPayment(id));
    const handled = processing(async asked => {
      if (asked === id) throw { code: 'unknown_payment' };
      return { result: 'ran', payment: await gateway.getPayment(asked) };
    });
    expect(await sweepAfter(60 * DAY, handled)).toEqual({ ...NONE, failed: 1 });
  });

  it('is done beside an id that the gateway does not know', async () => {
    const { gateway, twin, sweep, lose, reconcile, sweepAfter, processing } = openShop();
    const payment = await gateway.getPayment(await lose('payout-1'));
    for (const seen of [payment, await twin('payout-1')]) await reconcile(seen);
    const handled = processing(async asked => {
      if (asked !== payment.id) throw { code: 'unknown_payment' };
      return { result: 'ran', payment };
    });
    expect(await sweep(handled)).toEqual({ ...NONE, processed: 1 });
    expect(await sweepAfter(DAY, handled)).toEqual(NONE);
  });

  it('is never given up before it has taken effect, once it is final', async () => {
    const { gateway, lose, effects, reconcile, sweepAfter, processing } = openShop();
    await reconcile(await gateway.getPayment(await lose('payout-1')));
    const unknown = processing(() => Promise.reject({ code: 'unknown_payment' }));
    expect(await sweepAfter(60 * DAY, unknown)).toEqual({ ...NONE, failed: 1 });
    expect([await sweepAfter(DAY), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });
});

describe('what fails', () => {
  it('is tried again after its pause, and reported', async () => {
    let isDown = true;
    const { sweep, lose, messages, effects, sweepAfter } = openShop({}, () => {
      if (isDown) throw new Error('the shop is on fire');
    });
    await lose('payout-1');
    // Without the error's words: a database library puts the values of a query into them.
    const message = 'The payment of reference "payout-1" could not be processed. The next sweep retries it. Error';
    expect([await sweep(), messages()]).toEqual([{ ...NONE, failed: 1 }, [message]]);
    isDown = false;
    expect(await sweep()).toEqual(NONE);
    expect([await sweepAfter(MINUTE), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
  });

  it('by Retry-After ends the sweep, which asks nothing more until then', { tags: 'long' }, async () => {
    const { sweep, lose, lookups, sweepAfter, processing } = openShop();
    for (let index = 0; index < 30; index++) await lose(`payout-${index}`);
    const { fetch } = wire(json('{}', 429, { 'retry-after': '600' }));
    const busy = new GatewayClient({ ...KEYS, retries: 0, fetch });
    const limited = processing(id => busy.getPayment(id));
    expect(await sweep({ ...limited, concurrency: 2 })).toEqual({ ...NONE, failed: 2 });
    // The gateway was not asked about the others, so they are not held back.
    expect(await sweepAfter(600_000 - 1)).toEqual({ ...NONE, processed: 28 });
    expect([await sweepAfter(1_000), lookups().length]).toEqual([{ ...NONE, processed: 2 }, 30]);
  });

  it('with its lease is looked at again once the lease has ended', async () => {
    const { lose, sweep, effects, sweepAfter, processing } = openShop();
    await lose('payout-1');
    const process = vi.fn(() => new Promise<never>(() => {}));
    void sweep(processing(process));
    await expect.poll(() => process.mock.calls.length).toBe(1);
    expect(await sweep()).toEqual(NONE);
    expect([await sweepAfter(2 * MINUTE), effects]).toEqual([{ ...NONE, processed: 1 }, ['payout-1']]);
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

  it('that is stopped gives the remaining payments back', async () => {
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
    const { gateway, lose, lookups, store, sweep, processing } = openShop();
    const id = await lose('payout-1');
    const payment = await gateway.getPayment(id);
    const stop = new AbortController();
    const process = vi.fn(async (_: string) => {
      stop.abort();
      return { result: 'handled', payment };
    });
    const read = vi.spyOn(store, 'read');
    const reads = read.mock.calls.length;
    expect(await sweep({ ...processing(process), signal: stop.signal })).toEqual({ ...NONE, processed: 1 });
    expect(process.mock.calls).toEqual([[id, { signal: stop.signal, timeout: 30_000 }]]);
    // The row is as it was claimed, so it is not read again.
    expect([read.mock.calls.length, lookups().length]).toEqual([reads, 1]);
    expect(await sweep(processing(process))).toEqual(NONE);
  });

  describe('at a gateway that does not know a payment', () => {
    it('fails, and says so, where the gateway had answered with it: it may be another gateway', async () => {
      const { create, messages, sweep, sweepAfter, processing } = openShop();
      const another = openShop();
      await create('payout-1');
      const missing = processing(id => another.gateway.getPayment(id));
      expect(await sweep(missing)).toEqual({ ...NONE, failed: 1 });
      expect(messages()).toEqual([expect.stringMatching(/"payout-1" could not be processed\. .*404/)]);
      expect(await sweepAfter(2 * MINUTE)).toEqual({ ...NONE, open: 1 });
    });

    it('gives up once it is older than giveUpAfter: the gateway may have forgotten it', async () => {
      const { create, codes, sweepAfter, processing } = openShop();
      await create('payout-1');
      const unknown = processing(() => Promise.reject({ code: 'unknown_payment' }));
      expect([await sweepAfter(31 * DAY, unknown), codes()]).toEqual([{ ...NONE, gaveUp: 1 }, ['sweep_gave_up']]);
    });

    it('goes on where an error alone has named the payment: there may be none', async () => {
      const { gateway, sandbox, messages, sweep, processing } = openShop();
      const unknown = processing(() => Promise.reject({ code: 'unknown_payment' }));
      sandbox.faults.next('commit-then-cut');
      await errorOf(gateway.createWithdrawal(PAYOUT));
      const before = messages();
      expect(await sweep(unknown)).toEqual({ ...NONE, open: 1 });
      expect(messages()).toEqual(before);
    });
  });

  it.each<[string, object, RegExp]>([
    ['no handler', { handler: undefined }, /handler: must be the handler of createWebhookHandler/],
    ['a handler of another kind', { handler: () => {} }, /handler: must be the handler of createWebhookHandler/],
    ['a mistyped option', { olderThen: 1 }, /olderThan/],
    ['an age in words', { olderThan: '1 h' }, /olderThan: must be milliseconds, 0 or more/],
    ['a patience in words', { giveUpAfter: '30 d' }, /giveUpAfter: must be milliseconds/],
    ['a negative patience', { giveUpAfter: -1 }, /giveUpAfter: must be milliseconds/],
    ['a negative age', { olderThan: -1 }, /olderThan: must be milliseconds, 0 or more/],
    ['no limit', { limit: 0 }, /limit: must be 1 or more/],
    ['half a payment', { limit: 1.5 }, /limit: must be a whole number/],
    ['ids', { ids: [] }, /ids/],
    ['a negative recheck', { recheckAfter: [-1] }, /recheckAfter/],
    ['a number of rechecks', { recheckAfter: 3 }, /recheckAfter: must be a list/],
  ])('refuses %s', async (_, changes, message) => {
    const { sweep } = openShop();
    await expect(sweep(changes)).rejects.toThrow(message);
    await expect(sweep(changes)).rejects.toHaveProperty('name', 'InvalidRequestError');
  });
});

describe('a paid payment', () => {
  const RECHECKS = { recheckAfter: [7 * DAY, DAY, 30 * DAY] };

  /** A payment whose callbacks arrive, until the address is closed. */
  async function openPaid() {
    let isUp = true;
    const shop = openShop({
      fetch: async (url, init) => (isUp ? shop.handle(new Request(url, init)) : new Response(null, { status: 500 })),
    });
    const id = await shop.create('payout-1');
    shop.clock.now += 10 * DAY;
    await shop.sandbox.complete(id);
    await shop.sandbox.idle();
    isUp = false;
    /** The gateway takes the money back, and its callback is lost. */
    const chargeBack = async () => void (await shop.sandbox.fail(id, { force: true }));
    return { ...shop, id, chargeBack };
  }

  it('is looked up again after 1, 7 and 30 days, and no more', async () => {
    const { sweep, clock, lookups } = await openPaid();
    const begun = clock.now;
    const days: number[] = [];
    for (let hour = 0; hour < 60 * 24; hour++) {
      clock.now = begun + (hour * DAY) / 24;
      const before = lookups().length;
      await sweep({ ...RECHECKS });
      if (lookups().length > before) days.push(hour / 24);
    }
    expect(days).toEqual([1, 7, 30]);
  });

  it('is looked up again a day after the sweep that found it', async () => {
    const { lose, sweep, sweepAfter, lookups } = openShop();
    await lose('payout-1');
    expect(await sweep(RECHECKS)).toEqual({ ...NONE, processed: 1 });
    expect([await sweepAfter(DAY, RECHECKS), lookups().length]).toEqual([{ ...NONE, processed: 1 }, 2]);
  });

  it('that was charged back takes effect again, once, and is counted', { tags: 'long' }, async () => {
    const { sweep, chargeBack, effects, sweepAfter } = await openPaid();
    expect(await sweep(RECHECKS)).toEqual(NONE);
    await chargeBack();
    expect(await sweepAfter(DAY - 1, RECHECKS)).toEqual(NONE);
    expect(await sweepAfter(1, RECHECKS)).toEqual({ ...NONE, processed: 1, rechecked: 1 });
    expect(effects).toEqual(['payout-1', 'payout-1']);
    expect([await sweepAfter(60 * DAY, RECHECKS), effects.length]).toEqual([NONE, 2]);
  });

  it('is looked up again if a recheck fails', { tags: 'long' }, async () => {
    const { sweep, clock, chargeBack, sandbox, sweepAfter } = await openPaid();
    await sweep(RECHECKS);
    await chargeBack();
    clock.now += DAY;
    sandbox.faults.next('drop', { on: 'lookup' });
    expect(await sweep(RECHECKS)).toEqual({ ...NONE, failed: 1 });
    expect(await sweepAfter(MINUTE + 1_000, RECHECKS)).toEqual({ ...NONE, processed: 1, rechecked: 1 });
  });

  it('that the gateway has forgotten by then is done', async () => {
    const { sweep, codes, sweepAfter, processing } = await openPaid();
    await sweep(RECHECKS);
    const missing = { ...RECHECKS, ...processing(() => Promise.reject({ code: 'unknown_payment' })) };
    expect(await sweepAfter(30 * DAY, missing)).toEqual({ ...NONE, processed: 1 });
    expect([await sweepAfter(DAY, missing), codes()]).toEqual([NONE, []]);
  });
});

it('a failed payment is not looked up again', async () => {
  const shop = openShop({ fetch: (url, init) => shop.handle(new Request(url, init)) });
  await shop.sandbox.fail(await shop.create('payout-1'));
  await shop.sandbox.idle();
  const before = shop.lookups().length;
  expect([await shop.sweepAfter(40 * DAY, { recheckAfter: [DAY] }), shop.lookups().length]).toEqual([NONE, before]);
});
