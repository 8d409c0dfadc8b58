// Creates that are planned with the merchant's own transaction, and the drain that sends them.
import { createDecipheriv, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import {
  ApiError,
  DuplicateReferenceError,
  type Fetch,
  type FetchInit,
  GatewayClient,
  type GatewayEvent,
  InvalidRequestError,
  type Journal,
  type JournalRow,
  memoryJournal,
} from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { change } from '../../src/journal/change.ts';
import { openPlan } from '../../src/journal/plan.ts';
import { isRefusedRequest, refuseSwapped } from '../../src/journal/planned.ts';
import { sealWith } from '../../src/journal/seal.ts';
import { rawJSON } from '../../src/schemas/json.ts';
import { tries } from '../support/arbitraries.ts';
import { abortedByClaim } from '../support/claims.ts';
import { errorOf, KEYS, OTHER_ID, PAYOUT } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { type Answer, hostNotFound, json, networkError, type Sent, wire } from '../support/wire.ts';

const MINUTE = 60_000;
const PLANNED = { ...PAYOUT, paymentType: 'WITHDRAWAL' } as const;
const NONE = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
const notReached = hostNotFound();
const tx = 'the transaction of the merchant';

afterEach(() => void vi.useRealTimers());

/** A merchant's journal, and a client over it; the clock stands still. */
function openShop(fetch: Fetch, journalOptions: Partial<Journal> = {}) {
  const clock = { now: 1_700_000_000_000 };
  const journal = memoryJournal({ scope: 'eu', now: () => clock.now });
  const events: GatewayEvent[] = [];
  const open = (given: Journal) =>
    new GatewayClient({ ...KEYS, fetch, journal: given, retries: 0, onEvent: event => events.push(event) });
  const gateway = open({ ...journal, ...journalOptions });
  const plan = (reference: string) => journal.plan(tx, { ...PLANNED, reference });
  const stateOf = async (reference: string) => (await gateway.find(reference))?.state;
  const changes = () => events.flatMap(event => (event.type === 'journal' ? [event.change] : []));
  const warnings = () => events.flatMap(event => (event.type === 'warning' ? [event] : []));
  const rowOf = async (reference: string) => (await journal.read({ scope: 'eu', reference })).row;
  return { clock, journal, gateway, open, plan, stateOf, changes, warnings, rowOf };
}

const referencesOf = (sent: readonly Sent[]) =>
  sent.flatMap(({ method, body }) => (method === 'POST' ? [JSON.parse(body).reference] : []));

/** Answers a create with a payment of its reference. */
const taken = ({ body }: FetchInit): Response => {
  const request = JSON.parse(Buffer.from(body ?? []).toString());
  return json(JSON.stringify({ result: { ...request, id: randomUUID(), paymentStatus: 'PENDING' } }), 201);
};

/** A gateway that takes every create, and tells which. */
const accept =
  (sent: string[] = []): Fetch =>
  async (_, init) => {
    sent.push(JSON.parse(Buffer.from(init.body ?? []).toString()).reference);
    return taken(init);
  };

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

  it('is seen as planned also by who waited long for another transaction to write it', async () => {
    vi.useFakeTimers();
    const { journal, plan, rowOf } = openShop(accept());
    await plan('payout-1');
    const slow: Journal = {
      ...journal,
      insert: async row => {
        await new Promise(resolve => setTimeout(resolve, 6_000));
        return journal.insert(row);
      },
    };
    const row = (await rowOf('payout-1')) as JournalRow;
    const found = change(slow, row, current => ({ state: current?.state, ...(!current && { next: row }) }), {
      known: { now: 0 },
      isPatient: true,
      tx,
    });
    await vi.advanceTimersByTimeAsync(6_000);
    expect((await found).state).toBe('planned');
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
  ])('stays planned where a create of it was not sent within %s, and the error says so', async (_, options) => {
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
  });

  it('stays planned where the gateway has refused three, and taken none: its key may be wrong, not each request', async () => {
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

  it('stays planned where its answer came before the journal could be told, and the error says so', async () => {
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

  it('may be there, as the error says, where the journal did not answer at all', async () => {
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

  it('is refused while a create of it runs, because that may end without a payment', async () => {
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

describe('a drain', () => {
  it('begins creates in the order of planning, over several batches', async () => {
    const sent: string[] = [];
    const { gateway, plan, clock } = openShop(accept(sent));
    const references = Array.from({ length: 30 }, (_, index) => `payout-${(index * 7) % 30}`);
    for (const reference of references) {
      await plan(reference);
      clock.now += 1;
    }
    expect(await gateway.drain({ concurrency: 4, limit: 20 })).toEqual({ ...NONE, created: 20 });
    expect(await gateway.drain({ concurrency: 4 })).toEqual({ ...NONE, created: 10 });
    expect(sent).toEqual(references);
  });

  it('is not held up by a create that hangs', async () => {
    const hanging = Promise.withResolvers<void>();
    const sent: string[] = [];
    const takes = accept(sent);
    const { gateway, plan, clock } = openShop((url, init) => {
      if (!JSON.parse(Buffer.from(init.body ?? []).toString()).reference.endsWith('-0')) return takes(url, init);
      return hanging.promise.then(() => taken(init));
    });
    for (let index = 0; index < 20; index++) {
      await plan(`payout-${index}`);
      clock.now += 1;
    }
    const draining = gateway.drain({ concurrency: 2 });
    await vi.waitFor(() => expect(sent.length).toBe(19));
    hanging.resolve();
    expect(await draining).toEqual({ ...NONE, created: 20 });
  });

  it('claims no more than it can begin at once, so that others begin the rest', async () => {
    const { gateway, journal, open, plan, clock } = openShop(accept());
    for (let index = 0; index < 12; index++) {
      await plan(`payout-${index}`);
      clock.now += 1;
    }
    let working = 0;
    const free: number[] = [];
    const counting = open({
      ...journal,
      claim: async (query, limit, leaseMs) => {
        free.push(limit + working);
        const claimed = await journal.claim(query, limit, leaseMs);
        working += claimed.rows.length;
        return claimed;
      },
      replace: async (row, revision) => {
        if (row.state === 'created') working -= 1;
        return journal.replace(row, revision);
      },
    });
    expect(await counting.drain({ concurrency: 3 })).toEqual({ ...NONE, created: 12 });
    expect(Math.max(...free)).toBe(3);
    expect(await gateway.drain()).toEqual(NONE);
  });

  it('claims one at a time while another one hangs in its other lane', async () => {
    const hanging = Promise.withResolvers<void>();
    const takes = accept();
    const { journal, open, plan, clock } = openShop(takes);
    for (let index = 0; index < 6; index++) {
      await plan(`payout-${index}`);
      clock.now += 1;
    }
    const limits: number[] = [];
    const gateway = new GatewayClient({
      ...KEYS,
      fetch: (url, init) => {
        if (!JSON.parse(Buffer.from(init.body ?? []).toString()).reference.endsWith('-0')) return takes(url, init);
        return hanging.promise.then(() => taken(init));
      },
      journal: {
        ...journal,
        claim: (query, limit, leaseMs) => {
          limits.push(limit);
          return journal.claim(query, limit, leaseMs);
        },
      },
    });
    const draining = gateway.drain({ concurrency: 2, limit: 5 });
    await vi.waitFor(() => expect(limits).toHaveLength(4));
    hanging.resolve();
    expect(await draining).toEqual({ ...NONE, created: 5 });
    expect(limits).toEqual([2, 1, 1, 1]);
    expect(await open(journal).drain()).toEqual({ ...NONE, created: 1 });
  });

  it('begins nothing more once the journal has failed for one', async () => {
    const sent: string[] = [];
    const { journal, open, plan } = openShop(accept(sent));
    for (let index = 0; index < 20; index++) await plan(`payout-${index}`);
    let failures = 1;
    const failing = open({
      ...journal,
      replace: async (...asked) => {
        if (failures-- > 0) throw new Error('the database is gone');
        return journal.replace(...asked);
      },
    });
    await expect(failing.drain({ concurrency: 2 })).rejects.toThrow('Nothing was sent');
    expect(sent.length).toBeLessThan(5);
  });

  it('does not put off what was planned anew while it could not be sent', async () => {
    const { journal, open, clock, gateway, rowOf } = openShop(accept());
    const request = { ...PLANNED, paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP_PIX' } as const;
    await journal.plan(tx, request, { terminal: 'onramp' });
    const slow = open({
      ...journal,
      claim: async (...asked) => {
        const claimed = await journal.claim(...asked);
        await gateway.settle('payout-1', 'not_created');
        await journal.plan(tx, { ...PLANNED, amount: '76.00' });
        return claimed;
      },
    });
    expect(await slow.drain({ limit: 1 })).toEqual({ ...NONE, postponed: 1 });
    expect((await rowOf('payout-1'))?.dueAt).toBe(clock.now);
    expect(await gateway.drain()).toEqual({ ...NONE, created: 1 });
  });

  it('frees what the gateway refuses, says so, and can be planned again', async () => {
    const { fetch, sent } = wire(json('{"error":"no such account"}', 422), taken);
    const { gateway, journal, plan, stateOf, changes, warnings } = openShop(fetch);
    await plan('payout-1');
    expect(await gateway.drain()).toEqual({ ...NONE, refused: 1 });
    expect([await stateOf('payout-1'), changes()]).toEqual(['freed', ['begun', 'freed']]);
    expect(warnings()).toEqual([
      expect.objectContaining({
        code: 'plan_refused',
        reference: 'payout-1',
        message: expect.stringContaining('The gateway answered 422'),
      }),
    ]);
    expect([await gateway.drain(), sent.length]).toEqual([NONE, 1]);
    await journal.plan(tx, { ...PLANNED, customer: { lastName: 'Müller' } });
    expect(await gateway.drain()).toEqual({ ...NONE, created: 1 });
    expect([await stateOf('payout-1'), sent.length]).toEqual(['created', 2]);
  });

  it.each<[string, Answer]>([
    ['cannot be reached', notReached],
    ['does not know the key', json('{}', 401)],
    ['asks for a pause', json('{}', 429, { 'retry-after': '7' })],
    ['is somewhere else', json('<html>', 404)],
    ['takes no POST there', json('<html>', 405)],
  ])('stops where the gateway %s, and what is planned stays so, in its order', async (_, answer) => {
    const { fetch, sent } = wire(answer, taken);
    const { gateway, plan, clock, stateOf, changes } = openShop(fetch);
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) {
      await plan(reference);
      clock.now += 1;
    }
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, postponed: 1 });
    expect([sent.length, await stateOf('payout-1'), changes()]).toEqual([1, 'planned', ['begun', 'planned']]);
    clock.now += MINUTE;
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, created: 3 });
    expect(referencesOf(sent).sort()).toEqual(['payout-1', 'payout-1', 'payout-2', 'payout-3']);
    // Whoever could not even be reached keeps his place.
    if (answer instanceof Error) expect(referencesOf(sent).slice(1)).toEqual(['payout-1', 'payout-2', 'payout-3']);
  });

  it('goes on to the others where the gateway forbids one, which is tried again ever later', async () => {
    const { fetch, sent } = wire(json('{}', 403), taken, json('{}', 403));
    const { gateway, plan, clock } = openShop(fetch);
    await plan('payout-1');
    clock.now += 1;
    await plan('payout-2');
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, created: 1, postponed: 1 });
    const tried: number[] = [];
    for (let second = 0; second < 4_000; second++) {
      clock.now += 1_000;
      const before = sent.length;
      await gateway.drain();
      if (sent.length > before) tried.push(second + 1);
    }
    expect(tried.slice(0, 4)).toEqual([15, 45, 105, 225]);
    expect(Math.max(...tried.map((at, index) => at - (tried[index - 1] ?? 0)))).toBeLessThanOrEqual(900);
    expect(sent.length).toBe(2 + tried.length);
  });

  it.each<[string, Answer]>([
    ['answers 503', json('{}', 503, { 'retry-after': '120' })],
    ['resets every connection', networkError('ECONNRESET', 'read')],
    ['answers what nobody can read', json('{"result":{}}', 201)],
  ])('stops after a few where the gateway %s, and keeps the rest planned', async (_, answer) => {
    const { fetch, sent } = wire(answer);
    const { gateway, plan, journal } = openShop(fetch);
    for (let index = 0; index < 50; index++) await plan(`payout-${index}`);
    const { inDoubt } = await gateway.drain({ concurrency: 3 });
    expect([inDoubt, sent.length]).toEqual([3, 3]);
    const { rows } = await journal.list({ states: ['planned'] });
    expect(rows.filter(({ body, leasedUntil }) => body && !leasedUntil)).toHaveLength(47);
  });

  it('puts one more create in doubt in each run of an outage, whoever runs it, and sends several again once one is answered', async () => {
    let isAway = true;
    let [atOnce, most] = [0, 0];
    const { journal, open, plan, clock } = openShop(async (_, init) => {
      if (isAway) return json('{}', 503);
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      return taken(init);
    });
    for (let index = 0; index < 60; index++) await plan(`payout-${index}`);
    const inDoubt: number[] = [];
    const drained = async () => {
      // A process of its own each minute.
      clock.now += MINUTE;
      const counts = await open(journal).drain({ concurrency: 3 });
      inDoubt.push(counts.inDoubt);
      return counts;
    };
    for (let minute = 0; minute < 5; minute++) await drained();
    expect(inDoubt).toEqual([3, 1, 1, 1, 1]);
    // They are old by then, and say nothing of the gateway any more.
    clock.now += 20 * MINUTE;
    await drained();
    expect(inDoubt.at(-1)).toBe(3);
    isAway = false;
    expect(await drained()).toEqual({ ...NONE, created: 60 - 3 - 4 - 3 });
    expect(most).toBe(3);
  });

  it('sends several at once beside creates that are under way, which are no doubts yet', async () => {
    const answer = Promise.withResolvers<void>();
    const { fetch, sent } = wire(async init => {
      await answer.promise;
      return taken(init);
    });
    const { gateway, open, journal, plan } = openShop(fetch);
    const creating = ['a', 'b'].map(reference => open(journal).createWithdrawal({ ...PAYOUT, reference }));
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    for (const reference of ['payout-1', 'payout-2']) await plan(reference);
    const draining = gateway.drain({ concurrency: 2 });
    await vi.waitFor(() => expect(sent).toHaveLength(4));
    answer.resolve();
    await Promise.all(creating);
    expect(await draining).toEqual({ ...NONE, created: 2 });
  });

  it('sends one create alone after an outage until one is answered, whatever becomes of it', async () => {
    const answers = [json('{}', 503), json('{}', 503), json('{}', 422)] as const;
    const { fetch, sent } = wire(...answers, taken);
    const { gateway, plan, clock } = openShop(fetch);
    for (let index = 0; index < 2; index++) await plan(`payout-${index}`);
    expect(await gateway.drain({ concurrency: 2 })).toEqual({ ...NONE, inDoubt: 2 });
    clock.now += MINUTE;
    for (let index = 2; index < 9; index++) await plan(`payout-${index}`);
    const draining = gateway.drain({ concurrency: 2, limit: 4 });
    expect(await draining).toEqual({ ...NONE, refused: 1, created: 3 });
    expect(sent).toHaveLength(6);
    // There is nothing to send: it waits for nothing.
    expect(await gateway.drain({ concurrency: 2 })).toEqual({ ...NONE, created: 3 });
    clock.now += MINUTE;
    expect(await gateway.drain({ concurrency: 2 })).toEqual(NONE);
  });

  it.each([401, 402, 403, 406, 415, 431, 451])(
    'keeps planned what %i refuses, which is not about the request, and tells a person, and each run that nothing was sent',
    async status => {
      const { fetch } = wire(json('<html>', status), taken);
      const { gateway, plan, clock, stateOf, warnings } = openShop(fetch);
      await plan('payout-1');
      expect(await gateway.drain()).toEqual({ ...NONE, postponed: 1 });
      expect(await stateOf('payout-1')).toBe('planned');
      expect(warnings()).toMatchObject([{ code: 'plan_not_sent', reference: 'payout-1' }]);
      expect(warnings()[0]?.message).toContain(`The gateway answered ${status}`);
      // It is not due yet: a run that finds nothing else must not look as if all were sent.
      expect(await gateway.drain()).toEqual({ ...NONE, postponed: 1 });
      expect(warnings()).toHaveLength(1);
      clock.now += MINUTE;
      expect(await gateway.drain()).toEqual({ ...NONE, created: 1 });
    },
  );

  it.each([400, 413, 422])('frees what %i refuses', async status => {
    const { fetch } = wire(json('{}', status));
    const { gateway, plan, stateOf } = openShop(fetch);
    await plan('payout-1');
    expect([await gateway.drain(), await stateOf('payout-1')]).toEqual([{ ...NONE, refused: 1 }, 'freed']);
  });

  it('stops where a refusal of one asks for a pause', async () => {
    const { fetch, sent } = wire(json('{}', 422, { 'retry-after': '60' }));
    const { gateway, plan } = openShop(fetch);
    for (const reference of ['payout-1', 'payout-2']) await plan(reference);
    expect([await gateway.drain({ concurrency: 1 }), sent.length]).toEqual([{ ...NONE, refused: 1 }, 1]);
  });

  it('gives back what the journal answers too late to be sent', async () => {
    vi.useFakeTimers();
    const sent: string[] = [];
    const { journal, open, plan, gateway, rowOf } = openShop(accept(sent));
    await plan('payout-1');
    const answered = Promise.withResolvers<void>();
    const slow = open({
      ...journal,
      claim: async (...asked) => {
        const claimed = await journal.claim(...asked);
        await answered.promise;
        return claimed;
      },
    });
    const failing = errorOf(slow.drain());
    await vi.advanceTimersByTimeAsync(5_001);
    expect((await failing) as Error).toMatchObject({
      message: expect.stringContaining('did not answer within 5000 ms'),
    });
    expect((await rowOf('payout-1'))?.leasedUntil).toBeTypeOf('number');
    answered.resolve();
    await vi.advanceTimersByTimeAsync(1);
    expect((await rowOf('payout-1'))?.leasedUntil).toBeUndefined();
    expect([await gateway.drain(), sent]).toEqual([{ ...NONE, created: 1 }, ['payout-1']]);
  });

  it('leaves a row alone that somebody has changed in the database', async () => {
    const { gateway, journal, plan, stateOf, warnings } = openShop(accept());
    await plan('payout-1');
    const { row } = await journal.read({ scope: 'eu', reference: 'payout-1' });
    await journal.replace({ ...(row as NonNullable<typeof row>), body: '{' }, 1);
    await plan('payout-2');
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, created: 1, postponed: 1 });
    expect(warnings()).toMatchObject([{ code: 'plan_not_sent', reference: 'payout-1' }]);
    expect(await stateOf('payout-1')).toBe('planned');
  });

  it('leaves a create whose answer is lost in doubt, and never sends it again', async () => {
    const { fetch, sent } = wire(networkError('ECONNRESET', 'read'));
    const { gateway, plan, stateOf, rowOf } = openShop(fetch);
    await plan('payout-1');
    expect(await gateway.drain()).toEqual({ ...NONE, inDoubt: 1 });
    expect([await stateOf('payout-1'), (await rowOf('payout-1'))?.body]).toEqual(['begun', undefined]);
    expect([await gateway.drain(), sent.length]).toEqual([NONE, 1]);
    expect((await gateway.inDoubt()).map(({ reference }) => reference)).toEqual(['payout-1']);
    expect(await errorOf(plan('payout-1'))).toMatchObject({ name: 'PaymentInDoubtError', reference: 'payout-1' });
  });

  it.each<[string, Answer, number, object]>([
    ['stops, where nothing can be sent', notReached, 1, { ...NONE, inDoubt: 1 }],
    ['goes on, where the gateway forbids one', json('{}', 403), 2, { ...NONE, inDoubt: 1, created: 1 }],
  ])('counts as in doubt what the journal does not take back in time, and %s', async (_, answer, count, drained) => {
    vi.useFakeTimers();
    const { fetch, sent } = wire(answer, taken);
    const { journal, gateway, open, plan, stateOf, clock } = openShop(fetch);
    const answered = Promise.withResolvers<void>();
    const slow = open({
      ...journal,
      replace: async (row, revision) => {
        if (row.state === 'planned') await answered.promise;
        return journal.replace(row, revision);
      },
    });
    await plan('payout-1');
    await plan('payout-2');
    const draining = slow.drain({ concurrency: 1 });
    await vi.advanceTimersByTimeAsync(5_001);
    expect([await draining, sent.length, await stateOf('payout-1')]).toEqual([drained, count, 'begun']);
    // The journal is told in the background.
    answered.resolve();
    await vi.advanceTimersByTimeAsync(1);
    expect(await stateOf('payout-1')).toBe('planned');
    clock.now += MINUTE;
    await gateway.drain();
    expect(await stateOf('payout-1')).toBe('created');
  });

  it('waits for the journal also where the create has used up its time', async () => {
    vi.useFakeTimers();
    const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
    const { journal, open, plan, stateOf } = openShop(async () => {
      await pause(29_990);
      throw notReached;
    });
    const slow = open({
      ...journal,
      replace: async (row, revision) => {
        if (row.state === 'planned') await pause(1_000);
        return journal.replace(row, revision);
      },
    });
    await plan('payout-1');
    const draining = slow.drain();
    await vi.advanceTimersByTimeAsync(31_000);
    expect([await draining, await stateOf('payout-1')]).toEqual([{ ...NONE, postponed: 1 }, 'planned']);
  });

  it('finishes what has begun when it is stopped, and begins nothing more', async () => {
    const answer = Promise.withResolvers<void>();
    const { fetch, sent } = wire(init => answer.promise.then(() => taken(init)));
    const { gateway, plan, stateOf, rowOf } = openShop(fetch);
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) await plan(reference);
    const stop = new AbortController();
    const draining = gateway.drain({ concurrency: 2, signal: stop.signal });
    await vi.waitFor(() => expect(sent.length).toBe(2));
    stop.abort();
    answer.resolve();
    expect(await draining).toEqual({ ...NONE, created: 2 });
    expect([sent.length, await stateOf('payout-3'), (await rowOf('payout-3'))?.leasedUntil]).toEqual([
      2,
      'planned',
      undefined,
    ]);
  });

  it('sends nothing that was withdrawn, or planned anew, after it was claimed', async () => {
    const sent: string[] = [];
    const shop = openShop(accept(sent));
    const { journal, open, plan, stateOf } = shop;
    for (const meanwhile of [
      () => shop.gateway.settle('payout-1', 'not_created'),
      async () => {
        await shop.gateway.settle('payout-1', 'not_created');
        await journal.plan(tx, { ...PLANNED, amount: '76.00' });
      },
    ]) {
      await plan('payout-1');
      const slow = open({
        ...journal,
        claim: async (...asked) => {
          const claimed = await journal.claim(...asked);
          await meanwhile();
          return claimed;
        },
      });
      expect(await slow.drain({ limit: 1 })).toEqual(NONE);
      expect(sent).toEqual([]);
    }
    expect(await stateOf('payout-1')).toBe('planned');
    expect(await shop.gateway.drain()).toEqual({ ...NONE, created: 1 });
  });

  it('leaves to another client what this one cannot send, and says why', async () => {
    const sent: string[] = [];
    const { gateway, journal, clock, stateOf, warnings } = openShop(accept(sent));
    const request = { ...PLANNED, paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP_PIX' } as const;
    await journal.plan(tx, request, { terminal: 'onramp' });
    expect(await gateway.drain()).toEqual({ ...NONE, postponed: 1 });
    expect(warnings()).toEqual([expect.objectContaining({ code: 'plan_not_sent', reference: 'payout-1' })]);
    expect([await gateway.drain(), await stateOf('payout-1'), sent]).toEqual([
      { ...NONE, postponed: 1 },
      'planned',
      [],
    ]);
    clock.now += MINUTE;
    const onramp = new GatewayClient({ ...KEYS, terminal: 'onramp', fetch: accept(sent), journal });
    expect([await onramp.drain(), sent]).toEqual([{ ...NONE, created: 1 }, ['payout-1']]);
  });

  it('rejects when the journal fails, and loses nothing', async () => {
    const sent: string[] = [];
    const { journal, open, plan, gateway } = openShop(accept(sent));
    await plan('payout-1');
    const broken = open({
      ...journal,
      replace: async () => {
        throw new Error('the database is gone');
      },
    });
    await expect(broken.drain()).rejects.toThrow('Nothing was sent');
    expect(sent).toEqual([]);
    expect((await gateway.find('payout-1'))?.state).toBe('planned');
  });

  it('needs a journal, and refuses an option that it does not know', async () => {
    await expect(new GatewayClient(KEYS).drain()).rejects.toThrow('drain needs a client with a journal');
    const withoutScope = new GatewayClient({ ...KEYS, journal: memoryJournal() });
    await expect(withoutScope.drain()).rejects.toThrow('drain needs a journal with the scope that its plans have');
    const { gateway } = openShop(accept());
    await expect(gateway.drain({ limits: 3 } as never)).rejects.toThrow('options: unknown option "limits"');
    await expect(gateway.drain({ concurrency: 0 })).rejects.toThrow('options.concurrency');
    await expect(gateway.drain({ follow: 'yes' as never })).rejects.toThrow('options.follow: must be true or false');
  });
});

describe('a drain that follows', () => {
  it('sends what is planned as soon as it is planned, until it is stopped', async () => {
    const sent: string[] = [];
    const { gateway, plan } = openShop(accept(sent));
    const stop = new AbortController();
    // The clock stands still: nobody waits for the next look.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const following = gateway.drain({ follow: true, signal: stop.signal });
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) {
      await plan(reference);
      await expect.poll(() => sent, { interval: 5 }).toContain(reference);
    }
    stop.abort();
    expect(await following).toEqual({ ...NONE, created: 3 });
  });

  it('begins again with short pauses once something was sent', async () => {
    vi.useFakeTimers();
    const { fetch, sent } = wire(notReached, notReached, taken, notReached, taken);
    const { gateway, plan, clock } = openShop(fetch);
    const stop = new AbortController();
    await plan('payout-1');
    const following = gateway.drain({ follow: true, concurrency: 1, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(100);
    clock.now += 10 * MINUTE;
    await vi.advanceTimersByTimeAsync(2_000);
    clock.now += 10 * MINUTE;
    await plan('payout-2');
    await vi.advanceTimersByTimeAsync(4_000);
    // The third is taken, the fourth is not: after a success the pause is the first one.
    expect(sent.length).toBe(4);
    clock.now += 10 * MINUTE;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sent.length).toBe(5);
    stop.abort();
    expect(await following).toMatchObject({ created: 2 });
  });

  const killed = new Error('the connection that listens was killed');
  it.each<[string, () => Promise<void>]>([
    ['rejects', async () => Promise.reject(killed)],
    [
      'throws at once',
      () => {
        throw killed;
      },
    ],
  ])('listens again where the journal stops telling and %s, as long as it follows', async (_, stopTelling) => {
    vi.useFakeTimers();
    const watched: number[] = [];
    const watch = () => {
      watched.push(performance.now());
      return stopTelling();
    };
    const { gateway } = openShop(accept(), { watch });
    const stop = new AbortController();
    const began = performance.now();
    const following = gateway.drain({ follow: true, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(2_500);
    stop.abort();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await following).toEqual(NONE);
    expect(watched.map(at => Math.round((at - began) / 100))).toEqual([0, 10, 20]);
  });

  it('looks every second where the journal does not tell', async () => {
    vi.useFakeTimers();
    const sent: string[] = [];
    const { gateway, plan } = openShop(accept(sent), { watch: undefined } as never);
    const stop = new AbortController();
    const following = gateway.drain({ follow: true, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(100);
    await plan('payout-1');
    await vi.advanceTimersByTimeAsync(899);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    await vi.waitFor(() => expect(sent).toEqual(['payout-1']));
    stop.abort();
    expect(await following).toEqual({ ...NONE, created: 1 });
  });

  it('goes on when the journal or the gateway fails, ever more slowly', async () => {
    vi.useFakeTimers();
    const { fetch, sent } = wire(notReached, notReached, notReached, taken);
    const shop = openShop(fetch);
    let failures = 2;
    const gateway = shop.open({
      ...shop.journal,
      claim: async (...asked) => {
        if (failures-- > 0) throw new Error('the database is gone');
        return shop.journal.claim(...asked);
      },
    });
    await shop.plan('payout-1');
    const stop = new AbortController();
    const following = gateway.drain({ follow: true, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(2_000 + 4_000);
    expect([shop.warnings().map(({ code }) => code), sent.length]).toEqual([['drain_failed', 'drain_failed'], 1]);
    await vi.advanceTimersByTimeAsync(8_000 + 16_000);
    expect(sent.length).toBe(3);
    await vi.advanceTimersByTimeAsync(32_000);
    expect(await shop.stateOf('payout-1')).toBe('created');
    stop.abort();
    expect(await following).toEqual({ ...NONE, created: 1, postponed: 3 });
  });

  it('goes on with the others while one hangs', async () => {
    const hanging = Promise.withResolvers<void>();
    const sent: string[] = [];
    const takes = accept(sent);
    const { gateway, plan } = openShop((url, init) => {
      if (!JSON.parse(Buffer.from(init.body ?? []).toString()).reference.endsWith('hangs')) return takes(url, init);
      return hanging.promise.then(() => taken(init));
    });
    await plan('hangs');
    const stop = new AbortController();
    const following = gateway.drain({ follow: true, concurrency: 2, signal: stop.signal });
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) {
      await plan(reference);
      await vi.waitFor(() => expect(sent).toContain(reference), { timeout: 3_000 });
    }
    stop.abort();
    hanging.resolve();
    expect(await following).toEqual({ ...NONE, created: 4 });
  });

  it('does not sleep longer than an hour, however long the gateway asks it to', async () => {
    vi.useFakeTimers();
    const { fetch, sent } = wire(json('{}', 429, { 'retry-after': '2592000' }), taken);
    const { gateway, plan, clock } = openShop(fetch);
    await plan('payout-1');
    const stop = new AbortController();
    const following = gateway.drain({ follow: true, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(10);
    clock.now += MINUTE;
    await vi.advanceTimersByTimeAsync(3_598_000);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(sent).toHaveLength(2);
    stop.abort();
    expect(await following).toEqual({ ...NONE, created: 1, postponed: 1 });
  });

  it('counts what was sent before the journal failed to its limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { journal, open, plan } = openShop(accept());
    for (const reference of ['payout-1', 'payout-2', 'payout-3', 'payout-4']) await plan(reference);
    let claims = 0;
    const gateway = open({
      ...journal,
      claim: async (query, limit, leaseMs) => {
        claims += 1;
        if (claims === 2) throw new Error('the database is gone');
        return journal.claim(query, limit, leaseMs);
      },
    });
    const following = gateway.drain({ follow: true, concurrency: 1, limit: 2 });
    expect(await whileTimePasses(following, 10)).toEqual({ ...NONE, created: 2 });
  });

  it('ends after so many creates, and without a pause, if it is told to', async () => {
    // The clock stands still: whoever waits for it waits for ever.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { gateway, plan } = openShop(accept());
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) await plan(reference);
    expect(await gateway.drain({ follow: true, limit: 2 })).toEqual({ ...NONE, created: 2 });
  });
});

describe('what a plan is not', () => {
  it.each([{ paymentType: 'WITHDRAWAL' }, { paymentMethod: 'SEPA' }, PLANNED])(
    'a request in place of the transaction: %j',
    tx => {
      expect(() => refuseSwapped(tx)).toThrow('plan takes your transaction first, and then the request');
    },
  );

  it.each([undefined, null, 'tx', {}, { paymentType: 7, paymentMethod: null }])('a transaction such as %j', tx => {
    expect(() => refuseSwapped(tx)).not.toThrow();
  });

  it('a body that is no JSON, or another way to write it', () => {
    expect(() => openPlan({} as Journal, '{', { scope: 'eu', reference: 'payout-1' })).toThrow(
      'A planned request is not one that this SDK has written: somebody has changed the row.',
    );
  });

  it('a refusal of its request, unless it was surely refused, for what it says', () => {
    const refusal = (status: number, outcome: 'rejected' | 'unknown') =>
      new ApiError('no', { status } as never, { outcome });
    expect([400, 413, 414, 422].map(status => isRefusedRequest(refusal(status, 'rejected')))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect([401, 403, 404, 429, 500].map(status => isRefusedRequest(refusal(status, 'rejected')))).not.toContain(true);
    expect(isRefusedRequest(refusal(422, 'unknown'))).toBe(false);
    expect(isRefusedRequest(Object.assign(new Error('no'), { status: 422, outcome: 'rejected' }))).toBe(false);
  });
});

describe('what is kept of a plan', () => {
  it('makes the very request that was planned, for any request and extra', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 });
    const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined));
    const fields = fc.dictionary(
      fc.stringMatching(/^[a-z]{3,8}$/),
      fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
    );
    const amount = fc.oneof(
      fc.constantFrom<string>('25.50', '1', '0.10', '120.00', '12345678901234567890.12'),
      fc.integer({ min: 1, max: 1e9 }).map(cents => cents / 100),
    );
    const request = fc.record({ amount, additionalParameters: fields, description: fc.oneof(text, fc.constant(null)) });
    const { fetch, sent } = wire(json('{}', 422));
    await fc.assert(
      fc.asyncProperty(request, fields, async (changes, given) => {
        const [planned, direct] = [openShop(fetch), openShop(fetch)];
        const extra = Object.fromEntries(Object.entries(given).map(([name, value]) => [`x_${name}`, value]));
        const wanted = { ...PLANNED, ...changes };
        await planned.journal.plan(tx, wanted, { extra });
        const row = await planned.rowOf('payout-1');
        await planned.gateway.drain();
        await errorOf(direct.gateway.createPayment(wanted, { extra }));
        const [byPlan, byCreate] = sent.splice(0);
        expect(byPlan?.body).toBe(byCreate?.body);
        expect((await direct.rowOf('payout-1'))?.bodyHash).toBe(row?.bodyHash);
      }),
      tries(20),
    );
  });

  it('keeps every digit, and every name, of what extra holds', async () => {
    const { fetch, sent } = wire(taken);
    const { journal, gateway } = openShop(fetch);
    const extra = JSON.parse('{"__proto__":{"a":1}}');
    Object.assign(extra, { digits: rawJSON('12345678901234567890.12'), tenth: [rawJSON('0.10'), 1e21, -0.5] });
    await journal.plan(tx, PLANNED, { extra });
    await gateway.drain();
    expect(sent[0]?.body).toContain('"__proto__":{"a":1},"digits":12345678901234567890.12,"tenth":[0.10,1e+21,-0.5]}');
  });

  const key = Buffer.alloc(32, 7);
  const place = { scope: 'eu', reference: 'payout-1' };

  it('is AES-256-GCM under the key, bound to scope and reference', () => {
    const sealed = sealWith(key).close('{"amount":"25.50"}', place);
    const [name, text = ''] = sealed.split(':');
    const bytes = Buffer.from(text, 'base64');
    // As any other implementation would read it: nonce of 12 bytes, tag of 16, text.
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    decipher.setAAD(Buffer.from('["eu","payout-1"]'));
    expect([name, decipher.update(bytes.subarray(28)).toString() + decipher.final().toString()]).toEqual([
      'aes-256-gcm',
      '{"amount":"25.50"}',
    ]);
    expect(sealWith(key).close('{}', place)).not.toBe(sealWith(key).close('{}', place));
  });

  it('is read with a former key, and refused if another key has closed it, or anybody has changed or moved it', () => {
    const sealed = sealWith(key).close('{}', place);
    const newer = Buffer.alloc(32, 8).toString('base64');
    expect(sealWith(newer, [key]).open(sealed, place)).toBe('{}');
    const changed = `${sealed.slice(0, -4)}AAA=`;
    for (const [text, at] of [
      [sealed, { ...place, reference: 'payout-2' }],
      [changed, place],
      ['{}', place],
    ] as const) {
      expect(() => sealWith(key).open(text, at)).toThrow('A planned request');
    }
    expect(() => sealWith(newer).open(sealed, place)).toThrow('neither encryptionKey nor among formerEncryptionKeys');
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

describe('what a drain claims', () => {
  it('and does not begin, because it is to stop, is not sent, and given back at once', async () => {
    const { fetch, sent } = wire(taken);
    const { journal, plan } = openShop(fetch);
    // The same object: what is spied on is asked.
    const gateway = new GatewayClient({ ...KEYS, fetch, journal });
    for (const reference of ['payout-1', 'payout-2']) await plan(reference);
    expect(await gateway.drain({ signal: abortedByClaim(journal) })).toEqual(NONE);
    expect(sent).toEqual([]);
    expect(await gateway.drain()).toHaveProperty('created', 2);
  });
});
