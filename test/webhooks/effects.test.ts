// The work of a callback: the functions within their limit, then afterCommit, and a note if it is unfinished.
import {
  createWebhookHandler,
  GatewayClient,
  memoryStore,
  type Store,
  type WebhookHandlerOptions,
} from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EffectCutOff, type StoreRow } from '../../src/store/contract.ts';
import { CARD, ID, throwing } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { as, claiming, completed, linked, openShop, post, storeWith, warningsOf } from './shop-callbacks.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** The answer, however long the handler takes. */
const settled = <T>(reply: Promise<T>) => whileTimePasses(reply, 250);
const forever = () => new Promise<never>(() => {});

describe('a function', () => {
  it.each([
    [undefined, 20_000],
    [50, 50],
    [22_000, 22_000],
  ])('that hangs is cut off at effectTimeout %s, and the next callback runs', async (effectTimeout, ms) => {
    const signals: AbortSignal[] = [];
    const ends: string[] = [];
    const { reply, effects, errors } = openShop({
      effectTimeout,
      onPayment: async (payment, { signal, afterCommit }) => {
        signals.push(signal);
        afterCommit(() => void ends.push('committed'));
        if (signals.length === 1) await forever();
        effects.push(payment);
      },
    });
    const [first, second] = [reply(claiming('COMPLETED')), reply(claiming('COMPLETED'))];
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect([signals[0]?.aborted, effects]).toEqual([false, []]);
    await vi.advanceTimersByTimeAsync(1);
    expect([await first, signals[0]?.reason.name]).toEqual(['503 failed', 'AbortError']);
    expect(errors).toMatchObject([{ message: expect.stringContaining(`took more than ${ms} ms`) }]);
    expect(await settled(second)).toBe('200 handled');
    expect([effects, ends]).toEqual([[completed], ['committed']]);
  });

  it('cannot use afterCommit after its end, when its signal is aborted', async () => {
    let given: { signal: AbortSignal; afterCommit(work: () => unknown): void } | undefined;
    const { reply } = openShop({
      onPayment: (_, context) => {
        given = context;
        expect(context.signal.aborted).toBe(false);
      },
    });
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled');
    expect(given?.signal.aborted).toBe(true);
    expect(() => given?.afterCommit(() => {})).toThrow('after the function has returned');
  });

  it('has no parts of the handler as its `this`', async () => {
    const seen: unknown[] = [];
    const { reply } = openShop({
      onPayment(this: unknown) {
        seen.push(this);
      },
    });
    await reply(claiming('COMPLETED'));
    expect(seen).toEqual([undefined]);
  });

  it('runs in the order onPayment, then that of its outcome, and the second failure undoes both', async () => {
    const order: string[] = [];
    const { deliver } = await openPaid({
      onPayment: () => void order.push('onPayment'),
      onPaid: ({ reference }) => {
        order.push(`onPaid ${reference}`);
        if (order.length === 2) throw new Error('shop');
      },
      onError: () => {},
    });
    expect([await deliver(), await deliver(), await deliver()]).toEqual([503, 200, 200]);
    expect(order).toEqual(['onPayment', 'onPaid order-1', 'onPayment', 'onPaid order-1']);
  });
});

/** A created deposit whose callbacks go nowhere. The clock of its store stands still. */
async function openCreated() {
  const clock = { now: 1_000 };
  const store = memoryStore({ now: () => clock.now }) as Store<never>;
  const sandbox = new Sandbox({ fetch: async () => new Response() });
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store, retries: 0 });
  const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
  const rowNow = async () => (await store.read({ kind: 'create', id: 'order-1' })).row as StoreRow;
  /** A handler, and the status of its answer to a callback. */
  const open = (functions: Partial<WebhookHandlerOptions>) => {
    const handler = createWebhookHandler({ gateway, ...functions } as WebhookHandlerOptions);
    const deliver = async (paymentStatus?: string) =>
      (await settled(handler(post(JSON.stringify({ id: payment.id, paymentStatus }))))).status;
    return { handler, deliver };
  };
  return { clock, store, sandbox, gateway, payment, rowNow, open };
}

/** A completed deposit, whose callback a test delivers. */
async function openPaid(functions: Partial<WebhookHandlerOptions>) {
  const { gateway, sandbox, store, payment, rowNow, open } = await openCreated();
  await sandbox.complete(payment.id);
  const known = async () => (await gateway.find('order-1'))?.payment?.paymentStatus;
  return { store, ...open(functions), known, rowNow };
}

describe('the status of a payment', () => {
  it('is recorded with its effect, by one transaction', async () => {
    const { store, deliver, known } = await openPaid({ onPaid: () => {} });
    const writes = vi.spyOn(store, 'write');
    expect([await deliver(), await known(), writes.mock.calls]).toEqual([200, 'COMPLETED', []]);
  });

  it.each([new Error('shop'), 'shop', undefined])('is recorded although its function throws %o', async error => {
    const onError = vi.fn();
    const { deliver, known } = await openPaid({ onPaid: () => Promise.reject(error), onError });
    expect([await deliver(), await known()]).toEqual([503, 'COMPLETED']);
    expect(onError.mock.lastCall).toEqual([error instanceof Error ? error : expect.objectContaining({ cause: error })]);
  });

  it('is recorded although its effect was cut off before', async () => {
    const { store, deliver, known } = await openPaid({ onPaid: () => {}, onError: () => {} });
    store.effect = async () => 'uncertain';
    expect([await deliver(), await known()]).toEqual([503, 'COMPLETED']);
  });

  it('is recorded although it took effect before the create was known', async () => {
    const { store, deliver, known, rowNow } = await openPaid({ onPaid: () => {} });
    const before = await rowNow();
    await deliver();
    await store.write({ ...before, revision: (await rowNow()).revision });
    expect([await deliver(), await known()]).toEqual([200, 'COMPLETED']);
    expect((await rowNow()).data).toHaveProperty('effectAt');
  });
});

it('a PENDING payment costs no transaction without onPayment', async () => {
  const { store, open } = await openCreated();
  const effect = vi.spyOn(store, 'effect');
  expect([await open({ onPaid: () => {} }).deliver('PENDING'), effect.mock.calls]).toEqual([200, []]);
  expect([await open({ onPayment: () => {} }).deliver('PENDING'), effect.mock.calls.length]).toEqual([200, 1]);
});

describe('an unfinished callback', () => {
  it.each([
    ['fails', { onPaid: () => Promise.reject(new Error('shop')) }, 'COMPLETED'],
    ['hangs', { onPaid: forever, effectTimeout: 50 }, 'COMPLETED'],
    ['waits for a record that lags', { onPaid: () => {} }, 'FAILED'],
  ])('makes its payment due before its 503: it %s', async (_, functions, paymentStatus) => {
    // Nothing is due after the effect, or after upkeep gave the payment up.
    for (const dueAt of [undefined, 1_000, 900_000]) {
      const { clock, store, sandbox, payment, rowNow, open } = await openCreated();
      await store.write({ ...(await rowNow()), dueAt });
      clock.now = 5_000;
      await sandbox.complete(payment.id);
      expect((await rowNow()).dueAt).toBe(dueAt);
      expect(await open({ ...functions, onError() {} }).deliver(paymentStatus)).toBe(503);
      expect((await rowNow()).dueAt).toBe(5_000);
    }
  });

  it('that claims a FAILED handled before its payment was paid is found by the next upkeep as a chargeback', async () => {
    const { clock, gateway, sandbox, payment, open } = await openCreated();
    const got: string[] = [];
    const named = (name: string) => () => void got.push(name);
    const [onPaid, onDeclined, onReversed] = ['onPaid', 'onDeclined', 'onReversed'].map(named);
    const { handler, deliver } = open({ onPaid, onDeclined, onReversed, onError() {} } as object);
    const upkeepAfter = async (ms: number) => {
      clock.now += ms;
      await settled(gateway.upkeep({ handler, once: true, olderThan: 0 }));
      clock.now += 1;
    };
    await sandbox.fail(payment.id);
    expect(await deliver('FAILED')).toBe(200);
    await sandbox.complete(payment.id, { force: true });
    expect(await deliver('COMPLETED')).toBe(200);
    await upkeepAfter(5_000);
    // The record still says COMPLETED.
    expect(await deliver('FAILED')).toBe(503);
    await sandbox.fail(payment.id, { force: true });
    await upkeepAfter(1);
    expect(got).toEqual(['onDeclined', 'onPaid', 'onReversed']);
  });

  it('waits one second for the store at most, and a flood of one payment costs one statement at a time', async () => {
    const owner = vi.fn(forever);
    const store = storeWith({ owner });
    const { reply } = openShop({ gateway: linked({ store }, async () => Promise.reject(new Error('down'))) });
    const replies = Promise.all(Array.from({ length: 50 }, () => reply(claiming('COMPLETED'))));
    await vi.advanceTimersByTimeAsync(990);
    expect(await Promise.race([replies, 'waiting'])).toBe('waiting');
    await vi.advanceTimersByTimeAsync(20);
    expect(new Set(await replies)).toEqual(new Set(['503 failed']));
    expect(owner.mock.calls).toEqual([[ID]]);
  });

  it('is answered 503 if the store fails to note it', async () => {
    const owner = vi.fn(() => Promise.reject(new Error('db')));
    const { reply } = openShop({ gateway: linked({ store: storeWith({ owner }) }, async () => as('PENDING')) });
    for (const _ of [1, 2]) expect(await settled(reply(claiming('COMPLETED')))).toBe('503 lagging');
    expect(await settled(reply(claiming('PENDING')))).toBe('200 handled');
    expect(owner).toHaveBeenCalledTimes(2);
  });
});

const cutOff = new EffectCutOff('COMMIT');
const before = new EffectCutOff('An earlier effect of the payment was cut off.');
it.each<[string, Store['effect'], Error]>([
  ['before', async () => 'uncertain', before],
  ['now', () => Promise.reject(cutOff), cutOff],
])('an effect that was cut off %s is answered 503 and reported for review each time', async (_, effect, cause) => {
  const store = storeWith({ effect });
  const { reply, effects, errors, events } = openShop({ gateway: linked({ store }) });
  for (const _ of [1, 2]) expect(await settled(reply(claiming('COMPLETED')))).toBe('503 effect_uncertain');
  expect([effects, errors]).toMatchObject([[], Array(2).fill({ code: 'effect_uncertain', paymentId: ID })]);
  expect(errors.map(error => (error as Error).cause)).toEqual([cause, cause]);
  const review = { type: 'review', reason: 'effect_uncertain', paymentId: ID, reference: 'order/1' };
  expect(events.filter(({ type }) => type === 'review')).toMatchObject([review, review]);
});

describe('afterCommit', () => {
  it('runs each function once, in order, after the commit', async () => {
    const order: string[] = [];
    const store = storeWith({
      async effect(_, work) {
        // The database has rolled back a deadlock, and the store repeats the work.
        await work({ tx: {}, rows: [] });
        await work({ tx: {}, rows: [] });
        order.push('commit');
        return 'done';
      },
    });
    const { reply } = openShop({
      gateway: linked({ store }),
      onPayment: (_, { afterCommit }) => {
        afterCommit(async () => void order.push('first'));
        afterCommit(() => void order.push('second'));
        order.push('effect');
      },
    });
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled');
    await vi.waitFor(() => expect(order).toEqual(['effect', 'effect', 'commit', 'first', 'second']), 60_000);
  });

  it('runs nothing for an effect that fails, or whose transaction was undone', async () => {
    const ran = vi.fn();
    const failing = openShop({
      onPayment: (_, { afterCommit }) => {
        afterCommit(ran);
        throw new Error('shop');
      },
    });
    expect(await failing.reply(claiming('COMPLETED'))).toBe('503 failed');
    const store = storeWith({
      async effect(_, work) {
        await work({ tx: {}, rows: [] });
        return 'busy';
      },
    });
    const undone = openShop({ gateway: linked({ store }), onPayment: (_, { afterCommit }) => afterCommit(ran) });
    expect(await undone.reply(claiming('COMPLETED'))).toBe('503 busy');
    expect(ran).not.toHaveBeenCalled();
  });

  it('reports a failure to onError and as a warning, and the next function runs', async () => {
    const next = vi.fn();
    const { reply, errors, events } = openShop({
      onPayment: (_, { afterCommit }) => {
        afterCommit(throwing(new Error('mail')));
        afterCommit(next);
      },
    });
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled');
    await vi.waitFor(() => expect(next).toHaveBeenCalledOnce(), 60_000);
    expect(errors).toEqual([new Error('mail')]);
    const message = `A function passed to afterCommit failed for payment ${ID}. It does not run again.`;
    expect(warningsOf(events)).toMatchObject([{ code: 'after_commit_failed', paymentId: ID, message }]);
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled before');
  });

  it('that hangs delays neither the answer nor the next status, and is given up after 25 seconds', async () => {
    const record = { status: 'COMPLETED' };
    const next = vi.fn();
    const { reply, effects, errors, events } = openShop(
      {
        onPayment: (payment, { afterCommit }) => {
          effects.push(payment);
          if (effects.length > 1) return;
          afterCommit(forever);
          afterCommit(next);
        },
      },
      async () => as(record.status),
    );
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled');
    record.status = 'REFUNDED';
    const second = reply(claiming('REFUNDED'));
    await vi.advanceTimersByTimeAsync(500);
    expect(await second).toBe('200 handled');
    expect([effects.length, next.mock.calls, warningsOf(events)]).toEqual([2, [], []]);
    await vi.advanceTimersByTimeAsync(25_000);
    expect(next).toHaveBeenCalledOnce();
    expect(errors).toEqual([new Error('It did not end within 25000 ms.')]);
    expect(warningsOf(events)).toMatchObject([{ code: 'after_commit_failed', paymentId: ID }]);
  });
});
