// Which record takes effect, and when: each status once, in order. Its callback is answered 200 only after that.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createWebhookHandler, memoryStore, type Payment } from 'payment-gateway-sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectDocumented } from '../support/documents.ts';
import { ID } from '../support/fixtures.ts';
import { tableOf } from '../support/markdown.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { as, callback, claiming, completed, linked, openShop, post, storeWith } from './shop-callbacks.ts';

const statuses = (effects: Payment[]) =>
  effects.map(payment => (payment.paymentStatus === 'UNKNOWN' ? payment.rawPaymentStatus : payment.paymentStatus));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** The answer, however long the handler takes. */
const settled = (reply: Promise<string>) => whileTimePasses(reply, 250);

/** A shop whose gateway has a record of that status, which a test can change. */
function shopWith(status: string, onPayment?: () => Promise<void>) {
  const record = { status };
  return { record, ...openShop(onPayment ? { onPayment } : {}, async () => as(record.status)) };
}

/** A gateway that shows these statuses in turn, then always the last one. */
const showing = (...statuses: string[]) => {
  let looks = 0;
  return async () => as(statuses[Math.min(looks++, statuses.length - 1)] ?? '');
};

/** A store in which a status of the payment has taken effect already. */
async function storeAfter(status: string) {
  const store = memoryStore();
  const handler = createWebhookHandler({ gateway: linked({ store }, showing(status)), onPayment() {}, onEvent() {} });
  await handler(claiming(status));
  return store;
}

describe('a record behind its callback', () => {
  it.each([
    ['PENDING', 'pending'],
    ['AUTHORIZED', 'PENDING'],
    ['AUTHORIZED', ' authorized '],
    ['SOMETHING_NEW', 'AUTHORIZED'],
    ['something-new', 'SOMETHING-NEW'],
    ['CANCELED', 'CANCELLED'],
    ['PENDING', undefined],
    ['PENDING', null],
    ['PENDING', 7],
  ])('is not %s for the claim %j', async (is, paymentStatus) => {
    const { reply, lookups, effects } = shopWith(is);
    expect(await settled(reply(post(JSON.stringify({ id: ID, paymentStatus }))))).toBe('200 handled');
    expect([lookups.length, statuses(effects)]).toEqual([1, [is]]);
  });

  it.each([
    ['takes effect now', []],
    ['took effect before', ['FAILED']],
  ])('never answers 200 for the claim COMPLETED or CANCELLED: its final FAILED %s', async (_, before) => {
    const { record, reply, effects } = shopWith('FAILED');
    for (const status of before) await settled(reply(claiming(status)));
    for (const ahead of ['COMPLETED', 'CANCELLED']) expect(await settled(reply(claiming(ahead)))).toBe('503 lagging');
    record.status = 'COMPLETED';
    expect(await settled(reply(claiming('COMPLETED')))).toBe('200 handled');
    expect(statuses(effects)).toEqual(['FAILED', 'COMPLETED']);
  });

  it('does not answer callbacks of the same turn whose claim it does not show', async () => {
    const { reply, effects } = openShop({}, showing('PENDING', 'AUTHORIZED'));
    const first = reply(claiming('PENDING'));
    const together = ['AUTHORIZED', 'COMPLETED'].map(status => settled(reply(claiming(status))));
    expect([await first, ...(await Promise.all(together))]).toEqual(['200 handled', '200 handled', '503 lagging']);
    expect(statuses(effects)).toEqual(['PENDING', 'AUTHORIZED']);
  });
});

it('docs/callbacks.md shows which record takes effect, and the answer', async () => {
  const claims = [undefined, 'PENDING', 'AUTHORIZED', 'COMPLETED', 'FAILED', 'SOMETHING_NEW'];
  const rows = [];
  for (const is of ['PENDING', 'AUTHORIZED', 'COMPLETED', 'SOMETHING_NEW']) {
    const cells = [];
    for (const claim of claims) {
      const { reply, effects, lookups } = shopWith(is);
      const body = post(JSON.stringify({ id: ID, paymentStatus: claim }));
      const [status] = (await settled(reply(body))).split(' ');
      const looked = lookups.length > 1 ? `, ${lookups.length} lookups` : '';
      cells.push(`${status}${effects.length > 0 ? '' : ', no effect'}${looked}`);
    }
    rows.push([`\`${is}\``, ...cells]);
  }
  const names = ['record', ...claims.map(claim => (claim ? `claims \`${claim}\`` : 'claims no status'))];
  expectDocumented('callbacks.md', 'record and claim', tableOf(names, rows));
});

describe('a status after a final one', () => {
  it('takes effect again if it returns: FAILED, COMPLETED, FAILED', async () => {
    const { record, reply, effects } = shopWith('FAILED');
    for (const status of ['FAILED', 'COMPLETED', 'FAILED']) {
      record.status = status;
      expect(await settled(reply(claiming(status)))).toBe('200 handled');
    }
    expect(statuses(effects)).toEqual(['FAILED', 'COMPLETED', 'FAILED']);
  });

  it.each(['PENDING', 'AUTHORIZED'])('has no effect if it is %s', async status => {
    const { record, reply, effects } = shopWith('COMPLETED');
    await reply(claiming('COMPLETED'));
    record.status = status;
    expect(await settled(reply(claiming(status)))).toBe('200 handled before');
    expect(statuses(effects)).toEqual(['COMPLETED']);
  });

  it('is looked up again after half a second, so an old record does not run', async () => {
    const store = await storeAfter('FAILED');
    const { reply, effects, lookups } = openShop({ gateway: linked({ store }, showing('COMPLETED', 'FAILED')) });
    const replying = reply(post(JSON.stringify({ id: ID })));
    await vi.advanceTimersByTimeAsync(499);
    expect(lookups).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await settled(replying)).toBe('200 handled before');
    expect([effects, lookups.length]).toEqual([[], 2]);
  });

  it('is answered busy if the payment changes at every try', async () => {
    let revision = 0;
    const store = storeWith({
      effect: async ({ id }, work) => {
        revision += 1;
        const data = { status: `FINAL_${revision}` };
        const payment = { kind: 'payment', id, state: 'done', revision, begunAt: 0, data } as const;
        return (await work({ tx: {}, payment, rows: [] })) ? 'done' : 'skipped';
      },
    });
    const { reply, effects } = openShop({ gateway: linked({ store }) });
    expect(await settled(reply(claiming('COMPLETED')))).toBe('503 busy');
    expect([effects, revision]).toEqual([[], 2]);
  });
});

describe('callbacks of one payment', () => {
  it('share one lookup while another callback is processed', async () => {
    const slow = Promise.withResolvers<Payment>();
    const { reply, lookups, effects, events } = openShop({}, () => slow.promise);
    const replies = Array.from({ length: 1_000 }, () => reply(post(callback)));
    while (events.length < 1_000) await new Promise(setImmediate);
    slow.resolve(completed);
    expect(new Set(await Promise.all(replies))).toEqual(new Set(['200 handled', '200 handled before']));
    expect([lookups.length, effects.length]).toEqual([2, 1]);
  });

  it('have their effect in the asynchronous context of one that it answers', async () => {
    const contexts = new AsyncLocalStorage<string>();
    const slow = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    const { reply, record } = shopWith('AUTHORIZED', async () => {
      seen.push(contexts.getStore());
      await slow.promise;
    });
    const first = contexts.run('first', () => reply(claiming('AUTHORIZED')));
    while (seen.length < 1) await new Promise(setImmediate);
    record.status = 'COMPLETED';
    const others = ['second', 'third'].map(name => contexts.run(name, () => reply(claiming('COMPLETED'))));
    slow.resolve();
    await settled(Promise.all([first, ...others]).then(String));
    expect(seen).toEqual(['first', 'second']);
  });

  it('are answered by a lookup that begins after them', async () => {
    let status = 'AUTHORIZED';
    const looking = Promise.withResolvers<void>();
    const { reply, lookups, effects } = openShop({}, async () => {
      const found = as(status);
      await looking.promise;
      return found;
    });
    const first = reply(post(JSON.stringify({ id: ID })));
    while (lookups.length < 1) await new Promise(setImmediate);
    status = 'COMPLETED';
    const second = reply(post(JSON.stringify({ id: ID })));
    looking.resolve();
    expect(await Promise.all([first, second])).toEqual(['200 handled', '200 handled']);
    expect(statuses(effects)).toEqual(['AUTHORIZED', 'COMPLETED']);
  });

  it('are answered busy together if another worker has the payment', async () => {
    const store = storeWith({ effect: async () => 'busy' });
    const { handler, reply, lookups, errors } = openShop({ gateway: linked({ store }) });
    const replies = [handler(claiming('COMPLETED')), reply(claiming('COMPLETED')), reply(claiming('FAILED'))] as const;
    expect((await replies[0]).headers.get('retry-after')).toBe('1');
    expect(await Promise.all([replies[1], replies[2]])).toEqual(['503 busy', '503 busy']);
    const message = `Another worker is processing payment ${ID}. A later callback or upkeep retries.`;
    expect([lookups.length, errors]).toMatchObject([2, Array(3).fill({ code: 'busy', message, paymentId: ID })]);
  });
});
