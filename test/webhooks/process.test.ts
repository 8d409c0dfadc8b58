// What a callback may change, and when: the record is the truth, each status takes effect once, and in order.
import { randomUUID } from 'node:crypto';
import {
  createWebhookHandler,
  type Inbox,
  type InboxResult,
  type Mark,
  memoryInbox,
  type Payment,
} from 'payment-gateway-sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectDocumented } from '../support/documents.ts';
import { errorOf, ID } from '../support/fixtures.ts';
import { tableOf } from '../support/markdown.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { as, claiming, completed, notFound, openShop, post, resultsOf, warningsOf } from '../support/shop-callbacks.ts';

const statuses = (effects: Payment[]) =>
  effects.map(payment => (payment.paymentStatus === 'UNKNOWN' ? payment.rawPaymentStatus : payment.paymentStatus));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Its answer, however long the handler takes. */
const settled = (reply: Promise<string>) => whileTimePasses(reply, 250);

/** A shop whose gateway's record is of that status; it can be changed. */
function shopWith(status: string) {
  const record = { status };
  return { record, ...openShop({}, async () => as(record.status)) };
}

describe('a record that is behind its callback', () => {
  it.each([
    ['PENDING', 'COMPLETED'],
    ['AUTHORIZED', 'FAILED'],
    ['PENDING', 'AUTHORIZED'],
    ['PENDING', 'SOMETHING_NEW'],
    ['SOMETHING_NEW', 'CANCELLED'],
  ])('%s is looked up twice more for the claim %s, and then nothing runs and nothing is marked', async (is, claims) => {
    const { record, reply, lookups, effects } = shopWith(is);
    expect(await settled(reply(claiming(claims)))).toBe('503 lagging');
    expect([lookups.length, effects]).toEqual([3, []]);
    record.status = claims === 'CANCELLED' ? 'CANCELED' : claims;
    expect(await settled(reply(claiming(claims)))).toBe('200 handled');
    expect(statuses(effects)).toEqual([record.status]);
  });

  it.each([
    ['PENDING', 'pending'],
    ['AUTHORIZED', 'PENDING'],
    ['AUTHORIZED', ' authorized '],
    ['SOMETHING_NEW', 'AUTHORIZED'],
    ['something-new', 'SOMETHING-NEW'],
    ['CANCELED', 'CANCELLED'],
  ])('is none, of %s, for the claim %j', async (is, claims) => {
    const { reply, lookups, effects } = shopWith(is);
    expect(await settled(reply(claiming(claims)))).toBe('200 handled');
    expect([lookups.length, statuses(effects)]).toEqual([1, [is]]);
  });

  it.each([[{ id: ID }], [{ id: ID, paymentStatus: null }], [{ id: ID, paymentStatus: 7 }]])(
    'is none for a callback that claims no status: %j',
    async body => {
      const { reply, effects } = shopWith('PENDING');
      expect(await settled(reply(post(JSON.stringify(body))))).toBe('200 handled');
      expect(statuses(effects)).toEqual(['PENDING']);
    },
  );

  it('takes effect if it is final, whatever is claimed; and what it becomes meanwhile, too', async () => {
    const { record, reply, effects } = shopWith('FAILED');
    const replying = reply(claiming('COMPLETED'));
    await vi.advanceTimersByTimeAsync(400);
    expect(statuses(effects)).toEqual(['FAILED']);
    record.status = 'COMPLETED';
    expect(await settled(replying)).toBe('200 handled');
    expect(statuses(effects)).toEqual(['FAILED', 'COMPLETED']);
  });

  it('is not answered 200 if nothing ran: COMPLETED is claimed, and the record is still FAILED, which was handled', async () => {
    const { record, reply, effects } = shopWith('FAILED');
    await settled(reply(claiming('FAILED')));
    expect(await settled(reply(claiming('COMPLETED')))).toBe('503 lagging');
    record.status = 'COMPLETED';
    expect(await settled(reply(claiming('COMPLETED')))).toBe('200 handled');
    expect(statuses(effects)).toEqual(['FAILED', 'COMPLETED']);
  });

  it('takes effect if what is claimed was handled before: a replay is no news', async () => {
    const { record, reply, lookups, effects } = shopWith('COMPLETED');
    await settled(reply(claiming('COMPLETED')));
    record.status = 'REFUNDED';
    expect(await settled(reply(claiming('COMPLETED')))).toBe('200 handled');
    expect(await settled(reply(claiming('COMPLETED')))).toBe('200 handled before');
    expect(statuses(effects)).toEqual(['COMPLETED', 'REFUNDED']);
    expect(lookups).toHaveLength(4);
  });

  it('is not answered 200 because another status ran in the same turn', async () => {
    const records = ['PENDING', 'AUTHORIZED', 'AUTHORIZED', 'AUTHORIZED'];
    const { reply, effects } = openShop({}, async () => as(records.shift() ?? 'AUTHORIZED'));
    const first = reply(claiming('PENDING'));
    const together = [reply(claiming('AUTHORIZED')), reply(claiming('COMPLETED'))].map(settled);
    expect([await first, ...(await Promise.all(together))]).toEqual(['200 handled', '200 handled', '503 lagging']);
    expect(statuses(effects)).toEqual(['PENDING', 'AUTHORIZED']);
  });

  it('is not answered by an older record that is found after a conflict', async () => {
    const inbox = memoryInbox();
    await inbox.run({ paymentId: ID, status: 'FAILED', final: true }, async () => {});
    const records = ['COMPLETED', 'FAILED', 'FAILED', 'FAILED'];
    const { reply, effects } = openShop({ inbox }, async () => as(records.shift() ?? 'FAILED'));
    expect(await settled(reply(claiming('COMPLETED')))).toBe('503 lagging');
    expect(effects).toEqual([]);
  });

  it.each(['on_hold', 'x'.repeat(3_600), 'a\0b', '\ud800'])(
    'is found marked however the gateway writes a status that this SDK does not know: %j',
    async status => {
      const { record, reply } = shopWith(status);
      await reply(claiming(status));
      record.status = 'PENDING';
      expect(await settled(reply(claiming(status)))).toBe('200 handled');
      expect(await settled(reply(claiming(status)))).toBe('200 handled before');
    },
  );

  it('is found marked also among invented statuses', async () => {
    const { record, reply } = shopWith('COMPLETED');
    await reply(claiming('COMPLETED'));
    record.status = 'SOMETHING_NEW';
    const first = reply(claiming('SOMETHING_NEW'));
    const invented = ['A', 'B', 'C', 'D'].map(status => settled(reply(claiming(status))));
    const replay = reply(claiming('COMPLETED'));
    expect([await settled(first), await settled(replay)]).toEqual(['200 handled', '200 handled before']);
    expect(new Set(await Promise.all(invented))).toEqual(new Set(['503 lagging']));
  });

  it('asks the inbox about few of the statuses that a flood claims', async () => {
    const asked: string[] = [];
    const inbox = memoryInbox();
    const { reply } = openShop(
      {
        inbox: {
          run: (event, work) => {
            asked.push(event.status);
            return inbox.run(event, work);
          },
        },
      },
      async () => as('PENDING'),
    );
    const flood = Array.from({ length: 200 }, (_, index) => reply(claiming(`STATUS_${index % 100}`)));
    expect(new Set(await Promise.all(flood.map(settled)))).toEqual(new Set(['503 lagging']));
    // Two turns.
    expect(asked.length).toBeLessThanOrEqual(6);
  });

  it('answers all who share a turn that finds the inbox busy, and looks up nothing more', {
    tags: 'long',
  }, async () => {
    const slow = Promise.withResolvers<void>();
    const results: InboxResult[] = ['ran', 'busy'];
    const inbox: Inbox = {
      run: async () => {
        await slow.promise;
        return results.shift() ?? 'busy';
      },
    };
    const { reply, lookups } = openShop({ inbox }, async () => as('PENDING'));
    const first = reply(claiming('PENDING'));
    await expect.poll(() => lookups.length).toBe(1);
    const together = [reply(claiming('PENDING')), reply(claiming('COMPLETED'))];
    await vi.advanceTimersByTimeAsync(0);
    slow.resolve();
    expect(await settled(first)).toBe('200 handled');
    expect(await Promise.all(together.map(settled))).toEqual(['503 busy', '503 busy']);
    expect(lookups).toHaveLength(2);
  });

  it('keeps those waiting that it does not satisfy, and answers the others at once', async () => {
    const { reply, effects } = shopWith('AUTHORIZED');
    const first = reply(claiming('AUTHORIZED'));
    const together = [reply(claiming('COMPLETED')), reply(claiming('authorized')), reply(claiming('PENDING'))] as const;
    expect(await first).toBe('200 handled');
    expect(await Promise.all([together[1], together[2]])).toEqual(['200 handled before', '200 handled before']);
    expect(await settled(together[0])).toBe('503 lagging');
    expect(statuses(effects)).toEqual(['AUTHORIZED']);
  });
});

it('docs/callback-rules.md tells which record takes effect, and what the callback is answered', async () => {
  const claims = [undefined, 'PENDING', 'AUTHORIZED', 'COMPLETED', 'FAILED', 'SOMETHING_NEW'];
  const rows = [];
  for (const is of ['PENDING', 'AUTHORIZED', 'COMPLETED', 'SOMETHING_NEW']) {
    const cells = [];
    for (const claim of claims) {
      const { reply, effects, lookups } = shopWith(is);
      const body = post(JSON.stringify({ id: ID, paymentStatus: claim }));
      const [status] = (await settled(reply(body))).split(' ');
      const looked = lookups.length > 1 ? `, ${lookups.length} lookups` : '';
      cells.push(`${effects.length > 0 ? 'takes effect' : 'nothing runs'}: ${status}${looked}`);
    }
    rows.push([`\`${is}\``, ...cells]);
  }
  const names = ['record', ...claims.map(claim => (claim ? `claims \`${claim}\`` : 'claims no status'))];
  expectDocumented('callback-rules.md', 'record and claim', tableOf(names, rows));
});

describe('a status after a final one', () => {
  it('takes effect once if this SDK does not know it: REFUNDED after COMPLETED', async () => {
    const { record, reply, effects } = shopWith('COMPLETED');
    await reply(claiming('COMPLETED'));
    record.status = 'REFUNDED';
    expect(await settled(reply(claiming('REFUNDED')))).toBe('200 handled');
    expect(await settled(reply(claiming('refunded')))).toBe('200 handled before');
    expect(statuses(effects)).toEqual(['COMPLETED', 'REFUNDED']);
  });

  it.each(['PENDING', 'AUTHORIZED'])('has no effect if it is %s', async status => {
    const { record, reply, effects } = shopWith('COMPLETED');
    await reply(claiming('COMPLETED'));
    record.status = status;
    expect(await settled(reply(claiming(status)))).toBe('200 handled before');
    expect(statuses(effects)).toEqual(['COMPLETED']);
  });

  it('is looked up once more, so that none that is out of date runs after it', async () => {
    const inbox = memoryInbox();
    // Another replica was quicker, and the payment has moved on since this one looked it up.
    await inbox.run({ paymentId: ID, status: 'FAILED', final: true }, async () => {});
    const found = [as('COMPLETED'), as('FAILED')];
    const { reply, effects, lookups } = openShop({ inbox }, async () => found.shift() ?? as('FAILED'));
    const replying = reply(post(JSON.stringify({ id: ID })));
    // The record may be a moment behind, so it is given one.
    await vi.advanceTimersByTimeAsync(499);
    expect(lookups).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await settled(replying)).toBe('200 handled before');
    expect([effects, lookups.length]).toEqual([[], 2]);
  });

  it('is answered busy if the marks change each time it is looked up', async () => {
    const seen: (readonly Mark[] | undefined)[] = [];
    const inbox: Inbox = {
      run: async event => {
        seen.push(event.seen);
        return [{ status: `FINAL_${seen.length}`, final: true }];
      },
    };
    const { reply } = openShop({ inbox });
    expect(await settled(reply(claiming('COMPLETED')))).toBe('503 busy');
    expect(seen).toEqual([undefined, [{ status: 'FINAL_1', final: true }], [{ status: 'FINAL_2', final: true }]]);
  });
});

describe('an effect that fails', () => {
  it.each([
    ['a callback', {}],
    ['a signed callback', { checkCallbackUrl: () => 'token', isCallbackOf: () => true }],
  ])('because of a 404 of its own is not taken for a payment that the gateway does not know: %s', async (_, tokens) => {
    let runs = 0;
    const { reply, errors } = openShop({
      gateway: { getPayment: async () => completed, ...tokens },
      onPayment: () => {
        runs += 1;
        return notFound();
      },
    });
    expect(await settled(reply(claiming('COMPLETED')))).toBe('503 failed');
    expect([runs, errors]).toEqual([1, [expect.objectContaining({ name: 'PaymentNotFoundError' })]]);
  });
});

describe('an effect that nobody knows about', () => {
  it('is answered 503 and reported each time, until an operator says what was done', async () => {
    const inbox: Inbox = { run: async () => [{ status: 'COMPLETED', final: true, begun: true }] };
    const { reply, effects, errors, events } = openShop({ inbox });
    expect([await reply(claiming('COMPLETED')), await reply(claiming('COMPLETED'))]).toEqual([
      '503 effect_uncertain',
      '503 effect_uncertain',
    ]);
    expect(effects).toEqual([]);
    const uncertain = { code: 'effect_uncertain', paymentId: ID };
    expect(errors).toMatchObject([{ ...uncertain, issues: [] }, uncertain]);
    expect(warningsOf(events)).toMatchObject([
      {
        code: 'effect_uncertain',
        paymentId: ID,
        message: expect.stringContaining(`inbox.resolve('${ID}', 'COMPLETED', `),
      },
      { code: 'effect_uncertain' },
    ]);
  });
});

describe('the mark of an effect that has begun', () => {
  const FAILED: Mark = { status: 'FAILED', final: true };
  it.each<[string, Mark[], string]>([
    [
      'counts also beside another mark',
      [FAILED, { status: 'COMPLETED', final: true, begun: true }],
      'effect_uncertain',
    ],
    ['says nothing of another status', [{ ...FAILED, begun: true }], 'busy'],
  ])('%s', async (_, marks, code) => {
    const { reply } = openShop({ inbox: { run: async () => marks } });
    expect(await settled(reply(claiming('COMPLETED')))).toBe(`503 ${code}`);
  });
});

describe('the journal', () => {
  it.each<[InboxResult, number]>([
    ['ran', 1],
    ['already', 1],
    ['busy', 0],
  ])('is told of a status that has taken effect, and of no other: %s', async (result, told) => {
    const acknowledged: Payment[] = [];
    const gateway = {
      getPayment: async () => completed,
      acknowledge: async (payment: Payment) => void acknowledged.push(payment),
    };
    await openShop({ gateway, inbox: { run: async () => result } }).reply(claiming('COMPLETED'));
    expect(acknowledged).toEqual(Array(told).fill(completed));
  });
});

describe('afterCommit', () => {
  it('runs what it was given once the inbox has marked the effect, in order, and before the answer', async () => {
    const order: string[] = [];
    const inbox: Inbox = {
      async run(event, work) {
        const result = await memoryInbox().run(event, work);
        order.push('marked');
        return result;
      },
    };
    const { reply } = openShop({
      inbox,
      onPayment: (_payment, { afterCommit }) => {
        afterCommit(async () => void order.push('first'));
        afterCommit(() => void order.push('second'));
        order.push('effect');
      },
    });
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled');
    expect(order).toEqual(['effect', 'marked', 'first', 'second']);
  });

  it('runs nothing of an effect that failed, or that the inbox ran again', async () => {
    const order: string[] = [];
    let tries = 0;
    const inbox: Inbox = {
      async run(_event, work) {
        // A deadlock: the store has rolled back, and repeats.
        await work({});
        await work({});
        return 'ran';
      },
    };
    const repeating = openShop({
      inbox,
      onPayment: (_payment, { afterCommit }) => {
        tries += 1;
        afterCommit(() => void order.push('after both'));
      },
    });
    await repeating.reply(claiming('COMPLETED'));
    expect([tries, order]).toEqual([2, ['after both']]);
    const failing = openShop({
      onPayment: (_payment, { afterCommit }) => {
        afterCommit(() => void order.push('after a failure'));
        throw new Error('shop');
      },
    });
    expect(await failing.reply(claiming('COMPLETED'))).toBe('503 failed');
    // Another replica was quicker, so the store has rolled this one back.
    const beaten = openShop({
      inbox: {
        async run(_event, work) {
          await work({});
          return 'already';
        },
      },
      onPayment: (_payment, { afterCommit }) => afterCommit(() => void order.push('after a rollback')),
    });
    expect(await beaten.reply(claiming('COMPLETED'))).toBe('200 handled before');
    expect(order).toHaveLength(1);
  });

  it.each([
    [
      'what was called, in place of the function',
      (afterCommit: (work: never) => void) => afterCommit(Promise.resolve() as never),
    ],
    ['nothing', (afterCommit: (work: never) => void) => afterCommit(undefined as never)],
  ])('refuses %s, before anything is marked', async (_, call) => {
    const { reply, errors } = openShop({ onPayment: (_payment, { afterCommit }) => call(afterCommit) });
    expect(await reply(claiming('COMPLETED'))).toBe('503 failed');
    expect(errors).toMatchObject([{ message: expect.stringContaining('afterCommit(() =>') }]);
    expect(await openShop().reply(claiming('COMPLETED'))).toBe('200 handled');
  });

  it('refuses what comes after onPayment has returned, because nobody would run it', async () => {
    let late: ((work: () => unknown) => void) | undefined;
    const ran: string[] = [];
    const { reply } = openShop({
      onPayment: (_payment, { afterCommit }) => {
        late = afterCommit;
      },
    });
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled');
    expect(() => late?.(() => ran.push('late'))).toThrow('onPayment has returned');
    expect(ran).toEqual([]);
  });

  it('changes nothing when it fails: onError is told, and the rest runs', async () => {
    const ran: string[] = [];
    const { reply, errors, events } = openShop({
      onPayment: (_payment, { afterCommit }) => {
        afterCommit(() => {
          throw new Error('mail');
        });
        afterCommit(() => void ran.push('the next'));
      },
    });
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled');
    expect([errors, ran]).toEqual([[new Error('mail')], ['the next']]);
    const message = `What onPayment passed to afterCommit failed, and is not repeated: payment ${ID}.`;
    expect(warningsOf(events)).toMatchObject([{ code: 'after_commit_failed', paymentId: ID, message }]);
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled before');
    expect(ran).toHaveLength(1);
  });

  it('keeps the payment from no further status when it does not end', async () => {
    const record = { status: 'COMPLETED' };
    const ran: string[] = [];
    const { reply, effects, errors, events } = openShop(
      {
        onPayment: (payment, { afterCommit }) => {
          effects.push(payment);
          afterCommit(() => new Promise(() => {}));
          afterCommit(() => void ran.push('the next'));
        },
      },
      async () => as(record.status),
    );
    const first = reply(claiming('COMPLETED'));
    await vi.advanceTimersByTimeAsync(24_999);
    expect([warningsOf(events), ran]).toEqual([[], []]);
    await vi.advanceTimersByTimeAsync(1);
    expect(warningsOf(events)).toMatchObject([{ code: 'after_commit_failed', paymentId: ID }]);
    expect([ran, errors.some(error => /did not end within 25000 ms/.test(String(error)))]).toEqual([
      ['the next'],
      true,
    ]);
    await first;
    record.status = 'FAILED';
    await settled(reply(claiming('FAILED')));
    expect(statuses(effects)).toEqual(['COMPLETED', 'FAILED']);
  });

  it('runs once the journal knows that the status has taken effect', async () => {
    const order: string[] = [];
    const gateway = {
      getPayment: async () => completed,
      acknowledge: async () => void order.push('acknowledged'),
    };
    const { reply } = openShop({
      gateway,
      onPayment: (_payment, { afterCommit }) => afterCommit(() => void order.push('e-mail')),
    });
    expect(await reply(claiming('COMPLETED'))).toBe('200 handled');
    expect(order).toEqual(['acknowledged', 'e-mail']);
  });
});

describe('a status that the document does not name', () => {
  it('is told to a person, each time it takes effect', async () => {
    const { record, reply, effects, events } = shopWith('COMPLETED');
    await settled(reply(claiming('COMPLETED')));
    expect(warningsOf(events)).toEqual([]);
    record.status = 'REFUNDED';
    expect(await settled(reply(claiming('REFUNDED')))).toBe('200 handled');
    expect(warningsOf(events)).toHaveLength(1);
    expect(await settled(reply(claiming('REFUNDED')))).toBe('200 handled before');
    expect(statuses(effects)).toEqual(['COMPLETED', 'REFUNDED']);
    const message = `Payment ${ID} has the status REFUNDED, which the gateway's document does not name: onPayment got it as UNKNOWN. Ask the gateway what it means for the money.`;
    expect(warningsOf(events)).toMatchObject([{ code: 'unknown_status', paymentId: ID, message }]);
  });
});

describe('process', () => {
  it('of a payment inside its own onPayment does not wait for ever', async () => {
    const inner: unknown[] = [];
    const { handler, reply } = openShop({
      onPayment: async payment => {
        inner.push(await errorOf(handler.process(payment.id)));
      },
    });
    expect(await settled(reply(claiming('COMPLETED')))).toMatch('503 busy');
    await vi.advanceTimersByTimeAsync(1000);
    expect(inner).toMatchObject([{ name: 'WaitTimeoutError', paymentId: ID }]);
    expect(await settled(reply(claiming('COMPLETED')))).toBe('200 handled before');
  });

  it('of another payment inside onPayment is done', async () => {
    const other = randomUUID();
    const inner: unknown[] = [];
    const { handler, reply } = openShop(
      {
        onPayment: async ({ id }) => {
          if (id !== other) inner.push((await handler.process(other)).result);
        },
      },
      async id => ({ ...completed, id }),
    );
    expect(await settled(reply(claiming('COMPLETED')))).toBe('200 handled');
    expect(inner).toEqual(['ran']);
  });

  it('ends its wait at its time-out or signal, while what has begun goes on', async () => {
    const slow = Promise.withResolvers<void>();
    const { handler, events, lookups } = openShop({ onPayment: () => slow.promise });
    const waiting = errorOf(handler.process(ID, { timeout: 1000 }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(await waiting).toMatchObject({
      name: 'WaitTimeoutError',
      paymentId: ID,
      message: `Payment ${ID} was not processed within 1000 ms. Work that has started continues.`,
    });
    const caller = new AbortController();
    const stopped = errorOf(handler.process(ID, { signal: caller.signal }));
    caller.abort();
    expect(await stopped).toMatchObject({
      name: 'ConnectionError',
      code: 'aborted',
      paymentId: ID,
      message: `The processing of payment ${ID} was stopped. Work that has started continues.`,
    });
    const other = randomUUID();
    expect(await errorOf(handler.process(other, { signal: AbortSignal.abort() }))).toMatchObject({ code: 'aborted' });
    expect(lookups).not.toContain(other);
    slow.resolve();
    expect(await handler.process(ID)).toMatchObject({ result: 'already' });
    expect(resultsOf(events)).toEqual(['failed', 'failed', 'failed', 'already']);
  });

  it.each([
    ['an id that is none', ['order-1'], 'id: must be'],
    ['an option that is unknown', [ID, { timeot: 1 }], 'did you mean "timeout"'],
    ['an id that is no text', [7], 'id: must be'],
    ['a time-out that is none', [ID, { timeout: 0 }], 'options.timeout: must be'],
    ['a signal in place of options', [ID, AbortSignal.timeout(1)], 'pass { signal }'],
  ] as const)('refuses %s', async (_, args, told) => {
    const { handler, lookups } = openShop();
    const process = handler.process as (...args: unknown[]) => Promise<unknown>;
    const error = (await errorOf(process(...args))) as Error;
    expect([error.name, error.message, lookups]).toEqual(['InvalidRequestError', expect.stringContaining(told), []]);
  });

  it('waits as long as its own work takes, if no other is in its way', async () => {
    const { handler } = openShop({ onPayment: () => new Promise(resolve => setTimeout(resolve, 60_000)) });
    expect(await whileTimePasses(handler.process(ID), 5_000)).toMatchObject({ result: 'ran' });
  });

  it('tells nothing of what is no id', async () => {
    const { handler, events } = openShop();
    await errorOf(handler.process('zoe@customer.example'));
    expect(events).toMatchObject([{ result: 'failed', code: 'invalid_request', paymentId: undefined }]);
  });

  it.each<[string, string[], string[]]>([
    ['a signed callback first', ['sweep', 'signed', 'unsigned'], ['signed']],
    ['then a sweep', ['unsigned', 'sweep'], ['sweep']],
    ['then a claim that this SDK knows', ['invented', 'unsigned'], ['unsigned']],
  ])('shares a turn, whose warnings have the id of %s', async (_, visitors, told) => {
    const slow = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    let status = 'AUTHORIZED';
    const { handler, events } = openShop({
      gateway: {
        getPayment: async () => as(status),
        checkCallbackUrl: url => (url.endsWith('?signed') ? 'token' : undefined),
      },
      onPayment: async ({ paymentStatus }, { afterCommit }) => {
        entered.resolve();
        if (paymentStatus === 'AUTHORIZED') await slow.promise;
        else
          afterCommit(() => {
            throw new Error('mail');
          });
      },
    });
    const body = JSON.stringify(completed);
    const visits: Record<string, () => Promise<unknown>> = {
      signed: () => handler(post(body, {}, 'https://shop.example/?signed')),
      unsigned: () => handler(post(body)),
      invented: () => handler(claiming('INVENTED')),
      sweep: () => handler.process(ID),
    };
    const first = handler(claiming('AUTHORIZED'));
    await entered.promise;
    status = 'COMPLETED';
    const idOf = new Map<string | undefined, string>();
    const ended: Promise<unknown>[] = [];
    for (const visitor of visitors) {
      const before = events.length;
      ended.push(visits[visitor]?.() ?? Promise.resolve());
      await vi.advanceTimersByTimeAsync(0);
      const [event] = events.slice(before);
      if (event) idOf.set(event.callId, visitor);
    }
    await vi.advanceTimersByTimeAsync(10);
    slow.resolve();
    await whileTimePasses(Promise.all([first, ...ended]), 250);
    const ids = warningsOf(events).map(({ callId }) => idOf.get(callId) ?? 'sweep');
    expect(ids).toEqual(told);
  });

  it('gives its place back when it stops waiting for work that does not end', { tags: 'long' }, async () => {
    const { handler } = openShop(
      { onPayment: ({ id }) => (id === ID ? new Promise(() => {}) : undefined) },
      async id => ({ ...completed, id }),
    );
    for (let round = 0; round < 11; round++) {
      const waiting = Array.from({ length: 1_000 }, () => errorOf(handler.process(ID, { timeout: 100 })));
      await vi.advanceTimersByTimeAsync(100);
      await Promise.all(waiting);
    }
    expect(await handler.process(randomUUID())).toMatchObject({ result: 'ran' });
  });

  it('is not turned away by a flood of callbacks', { tags: 'long' }, async () => {
    const flood = Promise.withResolvers<Payment>();
    const { handler, reply } = openShop({}, id => (id === ID ? Promise.resolve(completed) : flood.promise));
    const forged = Array.from({ length: 1500 }, () => reply(post(JSON.stringify({ id: randomUUID() }))));
    await vi.advanceTimersByTimeAsync(0);
    expect(await handler.process(ID)).toMatchObject({ result: 'ran' });
    flood.resolve(completed);
    await Promise.all(forged.map(settled));
  });
});

describe('two handlers over one inbox', () => {
  it('let a payment take effect once', async () => {
    const inbox = memoryInbox();
    const effects: string[] = [];
    const handlers = [1, 2].map(() =>
      createWebhookHandler({
        gateway: { getPayment: async () => completed },
        inbox,
        onPayment: ({ id }) => void effects.push(id),
      }),
    );
    const replies = await Promise.all(handlers.map(handler => handler(claiming('COMPLETED'))));
    expect(effects).toEqual([ID]);
    expect(replies.map(({ status }) => status).filter(status => status === 200).length).toBeGreaterThan(0);
  });
});
