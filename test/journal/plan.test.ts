import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import {
  DuplicateReferenceError,
  GatewayClient,
  InvalidRequestError,
  type JournalRow,
  memoryJournal,
} from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { planBy } from '../../src/journal/plan.ts';
import { errorOf, KEYS, OTHER_ID, PAYOUT } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { accept, MINUTE, NONE, notReached, openShop, PLANNED, taken, tx } from '../support/planned-shop.ts';
import { type Answer, json, wire } from '../support/wire.ts';

afterEach(() => void vi.useRealTimers());

describe('a planned create', () => {
  it('is sent by the drain, once, as it was planned', async () => {
    const { fetch, sent } = wire(taken);
    const { journal, gateway, stateOf, changes } = openShop(fetch);
    const customer = { firstName: 'Zoë', email: null, phone: undefined };
    const planned = await journal.plan(
      tx,
      { ...PLANNED, amount: '75.00', reference: 'payout-1', customer },
      { extra: { loyalty: { points: 3 } } },
    );
    expect([planned.state, planned.amount, planned.underWay, sent.length]).toEqual(['planned', '75', false, 0]);
    expect(await gateway.drain()).toEqual({ ...NONE, created: 1 });
    expect(sent[0]?.body).toBe(
      '{"paymentType":"WITHDRAWAL","paymentMethod":"SEPA","amount":75.00,"currency":"EUR","customer":{"firstName":"Zoë","email":null},"reference":"payout-1","webhookUrl":"https://shop.example/callbacks","loyalty":{"points":3}}',
    );
    expect(await gateway.drain()).toEqual(NONE);
    expect([sent.length, await stateOf('payout-1'), changes()]).toEqual([1, 'created', ['begun', 'created']]);
  });

  it('gets the signed callback address of a create', async () => {
    const { fetch, sent } = wire(taken);
    const journal = memoryJournal({ scope: 'eu' });
    const gateway = new GatewayClient({ ...KEYS, fetch, journal, signCallbackUrls: true });
    await journal.plan(tx, PLANNED);
    await gateway.drain();
    const { webhookUrl } = JSON.parse(sent[0]?.body ?? '');
    expect(gateway.checkCallbackUrl(webhookUrl)).toBeTypeOf('string');
  });

  it('is kept whole until it is sent, and no longer', async () => {
    const { gateway, journal, rowOf } = openShop(accept());
    await journal.plan(tx, { ...PLANNED, customer: { email: 'zoe@customer.example' } });
    expect(JSON.stringify(await rowOf('payout-1'))).toContain('zoe@customer.example');
    await gateway.drain();
    const row = await rowOf('payout-1');
    expect([row?.state, row?.body, JSON.stringify(row).includes('zoe')]).toEqual(['created', undefined, false]);
  });

  it('changes nothing when it is planned again, and refuses another request', async () => {
    const sent: string[] = [];
    const { gateway, journal, plan } = openShop(accept(sent));
    await plan('payout-1');
    expect((await plan('payout-1')).state).toBe('planned');
    const other = await errorOf(journal.plan(tx, { ...PLANNED, amount: '76.00' }));
    expect(other).toBeInstanceOf(DuplicateReferenceError);
    expect(other).toMatchObject({ outcome: 'not_sent', differing: ['amount'] });
    expect((other as Error).message).toContain("to withdraw it, call gateway.settle(reference, 'not_created')");
    await gateway.drain();
    expect([(await plan('payout-1')).state, sent]).toEqual(['created', ['payout-1']]);
    expect(await gateway.drain()).toEqual(NONE);
  });

  it.each<[string, object, object, string]>([
    ['without a reference', { reference: undefined }, {}, 'reference'],
    ['that a create would refuse', { amount: '1e5' }, {}, 'amount'],
    [
      'of an on-ramp method on a standard terminal',
      { paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP_PIX' },
      {},
      'paymentMethod',
    ],
    ['with a field in extra that belongs to the request', {}, { extra: { amount: 1 } }, 'extra.amount'],
    ['with an option that is unknown', {}, { terminals: 'onramp' }, 'options'],
    ['for a terminal that is unknown', {}, { terminal: '' }, 'options.terminal'],
  ])('is refused %s, and nothing is written', async (_, changes, options, path) => {
    const { journal, stateOf } = openShop(accept());
    const error = await errorOf(journal.plan(tx, { ...PLANNED, ...changes } as never, options as never));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ outcome: 'not_sent', issues: [{ path }] });
    expect(await stateOf('payout-1')).toBeUndefined();
  });

  it('without a reference says why it needs one', async () => {
    const { journal } = openShop(accept());
    expect(await errorOf(journal.plan(tx, { ...PLANNED, reference: null }))).toMatchObject({
      issues: [{ path: 'reference', message: 'is required: what is planned is known by it' }],
    });
  });

  it('of a doubt is refused, which names its payment', async () => {
    const { gateway, journal } = openShop(async () => json(JSON.stringify({ id: OTHER_ID }), 500));
    await errorOf(gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-1' }));
    expect(await errorOf(journal.plan(tx, PLANNED))).toMatchObject({
      name: 'PaymentInDoubtError',
      reference: 'payout-1',
      paymentId: OTHER_ID,
    });
  });

  it('of an on-ramp method is taken for a terminal that has it', async () => {
    const { journal } = openShop(accept());
    const request = { ...PLANNED, paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP_PIX' } as const;
    expect((await journal.plan(tx, request, { terminal: 'onramp' })).state).toBe('planned');
  });

  it('is written before the call returns, and waits for other transactions as long as that takes', async () => {
    vi.useFakeTimers();
    const { promise, resolve } = Promise.withResolvers<void>();
    const insert = vi.fn(async (row: JournalRow) => {
      await promise;
      return { row, isInserted: true, now: 7 };
    });
    const planning = planBy(insert, 'eu', 'memoryJournal', PLANNED, undefined);
    expect(insert.mock.calls).toEqual([[expect.objectContaining({ reference: 'payout-1', state: 'planned' })]]);
    await vi.advanceTimersByTimeAsync(3_600_000);
    resolve();
    expect((await planning).state).toBe('planned');
  });

  it('needs a journal with a scope, and says so', async () => {
    await expect(memoryJournal().plan(tx, PLANNED)).rejects.toThrow("memoryJournal(…, { scope: 'eu-terminal' })");
  });

  it('is planned with the transaction before the request, and the error says so to whoever has swapped or forgotten one', async () => {
    const { journal } = openShop(accept());
    for (const args of [[PLANNED, tx], [PLANNED]]) {
      const error = await errorOf(journal.plan(...(args as unknown as [string, typeof PLANNED])));
      expect(error).toMatchObject({
        name: 'ConfigurationError',
        message: expect.stringContaining('journal.plan(tx, request)'),
      });
    }
  });

  it('is taken over by a create of the same request, and by no other', async () => {
    const sent: string[] = [];
    const { gateway, plan } = openShop(accept(sent));
    await plan('payout-1');
    expect(await errorOf(gateway.createWithdrawal({ ...PAYOUT, amount: 80 }))).toBeInstanceOf(DuplicateReferenceError);
    expect((await gateway.createWithdrawal(PAYOUT)).replayed).toBe(false);
    expect([await gateway.drain(), sent]).toEqual([NONE, ['payout-1']]);
  });

  it('is joined by a create of the same request that comes while it is sent', async () => {
    const answer = Promise.withResolvers<void>();
    const { fetch, sent } = wire(init => answer.promise.then(() => taken(init)));
    const { gateway, plan } = openShop(fetch);
    await plan('payout-1');
    const draining = gateway.drain();
    await vi.waitFor(() => expect(sent.length).toBe(1));
    const creating = gateway.createWithdrawal(PAYOUT);
    answer.resolve();
    expect([(await draining).created, (await creating).replayed, sent.length]).toEqual([1, true, 1]);
  });

  it.each([
    ['withdrawn', false],
    ['withdrawn, and planned again,', true],
  ])(
    'gives a create of the same request its turn, if it was %s while that had joined it',
    async (_, isPlannedAgain) => {
      const sent: string[] = [];
      const shop = openShop(accept(sent));
      await shop.plan('payout-1');
      const joined = Promise.withResolvers<void>();
      let isSlow = true;
      const gateway = shop.open({
        ...shop.journal,
        // The drain reads its plan, and finds it withdrawn.
        read: async key => {
          if (isSlow) {
            isSlow = false;
            await joined.promise;
            await shop.gateway.settle('payout-1', 'not_created');
            if (isPlannedAgain) await shop.plan('payout-1');
          }
          return shop.journal.read(key);
        },
      });
      const draining = gateway.drain();
      await vi.waitFor(() => expect(isSlow).toBe(false));
      const creating = gateway.createWithdrawal(PAYOUT);
      await new Promise(setImmediate);
      joined.resolve();
      expect([await draining, (await creating).replayed, sent]).toEqual([NONE, false, ['payout-1']]);
      // What is left of its own time.
      const { timeoutMs = 0 } = (await shop.rowOf('payout-1')) ?? {};
      expect(timeoutMs).toBeGreaterThan(20_000);
    },
  );

  it.each<[string, Answer]>([
    ['cannot be reached', notReached],
    ['is forbidden', json('{}', 403)],
  ])('stays planned where a create of it %s, and the error says so', async (_, answer) => {
    const { fetch } = wire(answer, taken);
    const { gateway, plan, clock } = openShop(fetch);
    await plan('payout-1');
    const error = await errorOf(gateway.createWithdrawal(PAYOUT));
    expect(error).toMatchObject({ isStillPlanned: true });
    expect((error as Error).message).toMatch(
      /It was planned, and still is: a drain will send it\. To withdraw it, call/,
    );
    clock.now += MINUTE;
    expect((await gateway.drain()).created).toBe(1);
    const refused = await errorOf(openShop(wire(answer).fetch).gateway.createWithdrawal(PAYOUT));
    expect(refused).not.toHaveProperty('isStillPlanned');
  });

  it('stays planned where a create of it is stopped before it could be written down, and the error says so', async () => {
    const { journal, open, plan } = openShop(accept());
    await plan('payout-1');
    const asked = Promise.withResolvers<void>();
    const hanging = open({
      ...journal,
      replace: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const stop = new AbortController();
    const creating = errorOf(hanging.createWithdrawal(PAYOUT, { signal: stop.signal }));
    await asked.promise;
    stop.abort();
    const error = await creating;
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'aborted', isStillPlanned: true });
    expect((error as Error).message).toMatch(/ may end in PaymentInDoubtError\. It was planned, and still is: /);
  });

  it.each([
    ['its time-out', () => ({ timeout: 300 })],
    ['its signal', () => ({ signal: AbortSignal.timeout(200) })],
  ])(
    'stays planned where a create of it was not sent within %s, and the error says so',
    { tags: 'long' },
    async (_, options) => {
      // A handshake that nobody answers: nothing leaves, and no time is left to see it recorded.
      const hole = createServer(() => {}).listen(0, '127.0.0.1');
      await once(hole, 'listening');
      onTestFinished(() => void hole.close());
      const { journal, plan } = openShop(accept());
      await plan('payout-1');
      const { port } = hole.address() as AddressInfo;
      const away = new GatewayClient({ ...KEYS, baseUrl: `https://127.0.0.1:${port}`, journal });
      const error = await errorOf(away.createWithdrawal(PAYOUT, options()));
      expect(error).toMatchObject({ outcome: 'not_sent', isStillPlanned: true });
    },
  );

  it('stays planned where the gateway has refused three, and taken none: its key may be wrong, not each request', {
    tags: 'long',
  }, async () => {
    let answer: Answer = json('{"error":"signature"}', 400);
    const { gateway, plan, stateOf, clock, warnings } = openShop(async (url, init) => wire(answer).fetch(url, init));
    const references = Array.from({ length: 20 }, (_, index) => `payout-${index}`);
    for (const reference of references) await plan(reference);
    expect(await gateway.drain()).toEqual({ ...NONE, refused: 3, postponed: 17 });
    clock.now += MINUTE;
    expect(await gateway.drain()).toEqual({ ...NONE, postponed: 17 });
    const states = await Promise.all(references.map(stateOf));
    expect([
      states.filter(state => state === 'freed').length,
      states.filter(state => state === 'planned').length,
    ]).toEqual([3, 17]);
    expect(new Set(warnings().map(({ code }) => code))).toEqual(new Set(['plan_refused', 'plan_not_sent']));
    answer = taken;
    clock.now += 60 * MINUTE;
    expect(await gateway.drain()).toEqual({ ...NONE, created: 17 });
  });

  it('is free where the gateway refuses it, as long as others are taken in between', async () => {
    const refused = json('{"error":"amount"}', 422);
    const { gateway, plan } = openShop(wire(refused, refused, taken, refused, refused, refused, refused).fetch);
    for (let index = 0; index < 7; index += 1) await plan(`payout-${index}`);
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, refused: 5, created: 1, postponed: 1 });
  });

  it('is free again where it is refused after a create of any other kind was taken', async () => {
    let answer: Answer = json('{"error":"amount"}', 422);
    const { gateway, plan, clock } = openShop(async (url, init) => wire(answer).fetch(url, init));
    for (let index = 0; index < 4; index += 1) await plan(`payout-${index}`);
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, refused: 3, postponed: 1 });
    answer = taken;
    await gateway.createWithdrawal({ ...PAYOUT, reference: 'direct' });
    answer = json('{"error":"amount"}', 422);
    clock.now += MINUTE;
    expect(await gateway.drain()).toEqual({ ...NONE, refused: 1 });
  });

  it('is in doubt where it was refused and kept, and the journal could not be told', async () => {
    vi.useFakeTimers();
    const { journal, open, plan } = openShop(wire(json('{}', 400)).fetch);
    for (let index = 0; index < 4; index += 1) await plan(`payout-${index}`);
    let replaced = 0;
    const gateway = open({
      ...journal,
      replace: (...change) =>
        change[0].reference === 'payout-3' && ++replaced > 1 ? new Promise(() => {}) : journal.replace(...change),
    });
    const draining = gateway.drain({ concurrency: 1 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await draining).toEqual({ ...NONE, refused: 3, inDoubt: 1 });
  });

  it('stays planned where the journal has written that a create of it began, and answered that it has not', async () => {
    const { journal, open, plan, stateOf } = openShop(wire(notReached).fetch);
    await plan('payout-1');
    let isFirst = true;
    const forgetful = open({
      ...journal,
      async replace(...change) {
        const { isReplaced, now } = await journal.replace(...change);
        const isTold = !isFirst;
        isFirst = false;
        return { isReplaced: isReplaced && isTold, now };
      },
    });
    expect(await errorOf(forgetful.createWithdrawal(PAYOUT))).toMatchObject({ isStillPlanned: true });
    await vi.waitFor(async () => expect(await stateOf('payout-1')).toBe('planned'));
  });

  it('is not planned again where it was withdrawn while a create of it began', async () => {
    const { journal, open, plan, stateOf, gateway } = openShop(wire(notReached).fetch);
    await plan('payout-1');
    let isWithdrawn = false;
    const racing = open({
      ...journal,
      async replace(...change) {
        if (!isWithdrawn) {
          isWithdrawn = true;
          await gateway.settle('payout-1', 'not_created');
        }
        return journal.replace(...change);
      },
    });
    expect(await errorOf(racing.createWithdrawal(PAYOUT))).not.toHaveProperty('isStillPlanned');
    await vi.waitFor(async () => expect(await stateOf('payout-1')).toBe('freed'));
  });

  it('stays planned where its answer came before the journal could be told, and the error says so', {
    tags: 'long',
  }, async () => {
    const { journal, open, plan } = openShop(wire(notReached).fetch);
    await plan('payout-1');
    let replaced = 0;
    const slow = open({
      ...journal,
      replace: (...change) => (++replaced > 1 ? new Promise(() => {}) : journal.replace(...change)),
    });
    const error = await errorOf(slow.createWithdrawal(PAYOUT, { timeout: 300 }));
    expect(error).toMatchObject({ code: 'ENOTFOUND', outcome: 'not_sent', isStillPlanned: true });
  });

  it('stays planned where a create of it has joined that of a drain, and the error of the create says so', async () => {
    const answer = Promise.withResolvers<Response>();
    const { fetch, sent } = wire(() => answer.promise);
    const { gateway, plan, warnings } = openShop(fetch);
    await plan('payout-1');
    const draining = gateway.drain();
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    const creating = [errorOf(gateway.createWithdrawal(PAYOUT)), errorOf(gateway.createWithdrawal(PAYOUT))];
    answer.reject(notReached);
    expect(await draining).toEqual({ ...NONE, postponed: 1 });
    for (const error of await Promise.all(creating)) {
      expect(error).toMatchObject({ code: 'ENOTFOUND', outcome: 'not_sent', isStillPlanned: true });
      expect((error as Error).message.match(/still is/g)).toHaveLength(1);
    }
    expect(warnings()).toEqual([]);
  });

  it('is not said to be planned to a create of it that was withdrawn meanwhile', async () => {
    const answer = Promise.withResolvers<Response>();
    const { journal, gateway, plan, rowOf } = openShop(wire(() => answer.promise).fetch);
    await plan('payout-1');
    const creating = errorOf(gateway.createWithdrawal(PAYOUT));
    await vi.waitFor(async () => expect(await rowOf('payout-1')).toMatchObject({ state: 'begun' }));
    const { state: _state, body: _body, ...row } = (await rowOf('payout-1')) as JournalRow;
    await journal.replace({ ...row, state: 'freed' }, row.revision);
    answer.reject(notReached);
    expect(await creating).not.toHaveProperty('isStillPlanned');
  });

  it('may be there, as the error says, where the journal did not answer at all', { tags: 'long' }, async () => {
    const { open, journal } = openShop(accept());
    const deaf = open({ ...journal, insert: () => new Promise(() => {}), read: () => new Promise(() => {}) });
    const error = await errorOf(deaf.createWithdrawal(PAYOUT, { timeout: 100 }));
    expect(error).toMatchObject({ name: 'JournalError', outcome: 'not_sent' });
    expect((error as Error).message).toContain('If it was planned, it still is, and a drain sends it.');
    const stopped = await errorOf(deaf.createWithdrawal(PAYOUT, { signal: AbortSignal.abort() }));
    expect((stopped as Error).message).toBe(
      'The creation of "payout-1" was stopped (aborted). Nothing was sent: it is safe to create it again. If it was planned, it still is, and a drain sends it.',
    );
  });

  it('is refused while a create of it runs, because that may end without a payment', { tags: 'long' }, async () => {
    const answer = Promise.withResolvers<void>();
    const { fetch, sent } = wire(() => answer.promise.then(() => json('{}', 422)), taken);
    const { gateway, plan } = openShop(fetch);
    const creating = errorOf(gateway.createWithdrawal(PAYOUT));
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    expect(await errorOf(plan('payout-1'))).toMatchObject({ name: 'PaymentInDoubtError', outcome: 'unknown' });
    answer.resolve();
    await creating;
    await plan('payout-1');
    expect((await gateway.drain()).created).toBe(1);
  });

  it('is not touched by a sweep that had the attempt before', async () => {
    const sandbox = new Sandbox();
    const journal = memoryJournal({ scope: 'eu', settleMargin: 0 });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, journal });
    const { payment: other } = await new GatewayClient(sandbox.clientOptions).createWithdrawal({
      ...PAYOUT,
      reference: 'other',
    });
    await sandbox.complete(other.id);
    const key = { scope: 'eu', reference: 'payout-1' };
    sandbox.faults.next('drop');
    await errorOf(gateway.createWithdrawal(PAYOUT));
    const { row } = await journal.read(key);
    const doubt = {
      ...(row as NonNullable<typeof row>),
      state: 'begun',
      conflictingIds: [other.id],
      dueAt: 1,
    } as const;
    await journal.replace(doubt, doubt.revision);
    const handler = {
      process: async () => {
        // Meanwhile: an operator, and the merchant.
        const { row } = await journal.read(key);
        const { dueAt, leasedUntil, ...rest } = row as NonNullable<typeof row>;
        await journal.replace({ ...rest, conflictingIds: [], state: 'freed' }, rest.revision);
        await journal.plan(tx, PLANNED);
        return {
          result: 'already',
          payment: await new GatewayClient(sandbox.clientOptions).getPayment(other.id),
        } as const;
      },
    };
    await gateway.sweep({ handler, olderThan: 0 });
    expect((await journal.read(key)).row).toMatchObject({ state: 'planned', dueAt: expect.any(Number), looks: 0 });
    expect((await new GatewayClient({ ...sandbox.clientOptions, journal }).drain()).created).toBe(1);
  });

  it('is withdrawn by an operator, and can be planned anew', async () => {
    const sent: string[] = [];
    const { gateway, journal, plan, stateOf, rowOf } = openShop(accept(sent));
    await plan('payout-1');
    await gateway.settle('payout-1', 'not_created');
    expect([await stateOf('payout-1'), (await rowOf('payout-1'))?.body, await gateway.drain()]).toEqual([
      'freed',
      undefined,
      NONE,
    ]);
    await journal.plan(tx, { ...PLANNED, amount: '76.00' });
    expect([await gateway.drain(), sent]).toEqual([{ ...NONE, created: 1 }, ['payout-1']]);
  });

  it('is no doubt, and is not settled with a payment: a callback says so', async () => {
    const sandbox = new Sandbox();
    const { payment } = await new GatewayClient(sandbox.clientOptions).createWithdrawal(PAYOUT);
    const journal = memoryJournal({ scope: 'eu' });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, journal });
    await journal.plan(tx, PLANNED);
    expect(await gateway.inDoubt()).toEqual([]);
    await expect(gateway.settle('payout-1', payment.id)).rejects.toThrow("settle it with 'not_created'");
    // It was made without the journal: it is not paid again.
    await gateway.reconcile(await gateway.getPayment(payment.id));
    expect([await gateway.drain(), sandbox.payments.length]).toEqual([NONE, 1]);
    expect(await gateway.find('payout-1')).toMatchObject({ state: 'created', paymentId: payment.id });
    expect((await gateway.createWithdrawal(PAYOUT)).replayed).toBe(true);
  });

  it('is still sent when an earlier payment of its reference has failed, and in doubt if one of other money exists', async () => {
    const sandbox = new Sandbox();
    const other = new GatewayClient(sandbox.clientOptions);
    const journal = memoryJournal({ scope: 'eu' });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, journal });
    await journal.plan(tx, PLANNED);
    const { payment: failed } = await other.createWithdrawal(PAYOUT);
    await sandbox.fail(failed.id, { code: 4004 });
    await gateway.reconcile(await gateway.getPayment(failed.id));
    expect((await gateway.find('payout-1'))?.state).toBe('planned');
    const { payment: dearer } = await other.createWithdrawal({ ...PAYOUT, amount: '80.00' });
    await gateway.reconcile(await gateway.getPayment(dearer.id));
    expect(await gateway.inDoubt()).toMatchObject([
      { reference: 'payout-1', amount: '75', conflictingIds: [dearer.id] },
    ]);
    expect([await gateway.drain(), sandbox.payments.length]).toEqual([NONE, 2]);
  });
});

describe('planning', () => {
  it('reads nothing, and waits for its one statement as long as that takes: the transaction is not ours to leave', async () => {
    const { journal, plan } = openShop(wire(taken).fetch);
    const read = vi.spyOn(journal, 'read');
    const { insert } = journal;
    vi.spyOn(journal, 'insert').mockImplementation(async (...row) => {
      await new Promise(resolve => setTimeout(resolve, 60_000));
      return insert(...row);
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    expect(await whileTimePasses(plan('payout-1'), 1_000)).toHaveProperty('state', 'planned');
    expect(read).not.toHaveBeenCalled();
  });
});
