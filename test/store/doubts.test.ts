// Doubts have true exits: whatever a gateway does to a reference or an amount, names in an error, or answers late, an
// operator never has to lie or to write SQL.
import { GatewayClient, type GatewayEvent, type Payment } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FetchInit } from '../../src/http/own-fetch.ts';
import { type Creates, memoryCreates, reconcile, storeOf } from '../support/creates.ts';
import { errorOf, ID, KEYS, OTHER_ID, PAYOUT, record } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { hostNotFound, json, networkError } from '../support/wire.ts';

const THIRD_ID = '22222222-2222-4333-8444-555555555555';

afterEach(() => void vi.useRealTimers());

/** A record of the payout, as a lookup shows it. */
const recordOf = (id: string, changes: object = {}): Payment => ({
  ...JSON.parse(record('completed CARD callback')),
  ...{ paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', paymentStatus: 'PENDING' },
  ...{ amount: 75, currency: 'EUR', reference: 'payout-1', id },
  ...changes,
});

interface Script {
  /** What creates are answered, in order; the last one for ever. */
  creates: (Response | Error | ((init: FetchInit) => Promise<Response>))[];
  /** What lookups find; another id is a 404, a number is an error status, a text is a page with 404. */
  payments?: Record<string, Payment | number | string>;
  statements?: Creates;
  scope?: string;
}

/** Milliseconds that a create has. */
const TIMEOUT = 1_000;

/** A shop whose gateway plays a script. */
function open({ creates, payments = {}, ...given }: Script) {
  let passed = 0;
  const { scope, statements = memoryCreates({ scope, settleMargin: 0, now: () => Date.now() + passed }) } = given;
  /** The time of a create is up, without a sleep. */
  const timePasses = () => {
    passed += TIMEOUT + 1;
  };
  const events: GatewayEvent[] = [];
  const sent: string[] = [];
  const answers = [...creates];
  const fetch = async (url: string, init: FetchInit) => {
    const id = url.split('/').at(-1) ?? '';
    sent.push(init.method === 'POST' ? 'POST' : `GET ${id}`);
    if (init.method === 'GET') {
      const found = payments[id] ?? 404;
      if (typeof found === 'string') return new Response(found, { status: 404 });
      return typeof found === 'number' ? json('{}', found) : json(JSON.stringify({ result: found }));
    }
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error || answer === undefined) throw answer;
    return typeof answer === 'function' ? answer(init) : answer.clone();
  };
  const gateway = new GatewayClient({
    ...KEYS,
    store: storeOf(statements),
    fetch,
    retries: 0,
    onEvent: event => void events.push(event),
  });
  const changes = () => events.flatMap(event => (event.type === 'store' ? [event.change] : []));
  const warnings = () => events.flatMap(event => (event.type === 'warning' ? [event.code] : []));
  const create = (options?: object) => gateway.createWithdrawal(PAYOUT, { timeout: TIMEOUT, ...options });
  return { gateway, statements, payments, sent, changes, warnings, create, timePasses };
}

const lost = networkError('ECONNRESET', 'read');

const created = (id: string, changes: object = {}) => json(JSON.stringify({ result: recordOf(id, changes) }), 201);

describe('a gateway that writes the payment otherwise', () => {
  it.each<[string, Partial<Payment>, string[]]>([
    ['trims and upper-cases the reference', { reference: 'PAYOUT-1' }, ['reference']],
    ['cuts the reference', { reference: 'payout' }, ['reference']],
    ['rounds the amount', { amount: 75.01 }, ['amount']],
    ['does both', { reference: 'PAYOUT-1', amount: 76 }, ['reference', 'amount']],
    ['changes type and currency', { paymentType: 'DEPOSIT', currency: 'USD' }, ['paymentType', 'currency']],
  ])('%s: the error names what differs, and `despite` settles it', async (_, changes, differing) => {
    const shop = open({ creates: [lost], payments: { [ID]: recordOf(ID, changes) } });
    await errorOf(shop.create());
    await reconcile(shop.gateway, recordOf(ID, changes));
    const error = (await errorOf(shop.gateway.settle('payout-1', ID))) as Error;
    const [name = ''] = differing;
    expect(error).toMatchObject({ name: 'InvalidRequestError', issues: [{ path: 'paymentId' }] });
    expect(error.message).toContain(`${name} is "${Object.values(changes)[0]}" and not`);
    expect(error.message).toContain(`pass { despite: [${differing.map(name => `'${name}'`).join(', ')}] }`);
    for (const some of [[], differing.slice(1)]) {
      expect(await errorOf(shop.gateway.settle('payout-1', ID, { despite: some as never }))).toHaveProperty('issues');
    }
    await shop.gateway.settle('payout-1', ID, { despite: differing as never });
    expect(await shop.create()).toMatchObject({ replayed: true, payment: { id: ID } });
    expect(shop.sent.filter(call => call === 'POST')).toHaveLength(1);
    expect(shop.changes().filter(change => change !== 'created')).toEqual(['begun', 'in_doubt', 'settled', 'replayed']);
  });

  it('does not settle with the payment of another create, whatever an operator says', async () => {
    const its = recordOf(ID, { reference: 'payout-2' });
    const shop = open({ creates: [lost, created(ID, { reference: 'payout-2' })], payments: { [ID]: its } });
    await errorOf(shop.create());
    await shop.gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-2' });
    const settling = shop.gateway.settle('payout-1', ID, { despite: ['reference', 'paymentId'] });
    expect(await errorOf(settling)).toMatchObject({
      issues: [{ path: 'paymentId', message: expect.stringContaining('belongs to reference "payout-2"') }],
    });
    expect(await shop.gateway.find('payout-1')).toHaveProperty('state', 'begun');
  });

  it('settles with a payment that the store knows only from its callback', async () => {
    const cut = recordOf(ID, { reference: 'payout' });
    const shop = open({ creates: [lost], payments: { [ID]: cut } });
    await errorOf(shop.create());
    await reconcile(shop.gateway, cut);
    expect(await shop.gateway.find('payout')).toMatchObject({ state: 'created', paymentId: ID });
    await shop.gateway.settle('payout-1', ID, { despite: ['reference'] });
    expect(await shop.gateway.find('payout-1')).toMatchObject({ state: 'created', paymentId: ID });
    // Its next callback changes no other reference.
    await reconcile(shop.gateway, { ...cut, paymentStatus: 'COMPLETED' } as Payment);
    expect(await shop.gateway.find('payout-1')).toMatchObject({ payment: { paymentStatus: 'COMPLETED' } });
    expect(await shop.gateway.find('payout')).toHaveProperty('state', 'freed');
  });

  it('is not given up while another id of it comes to light', async () => {
    const shop = open({
      creates: [json(JSON.stringify({ message: 'failed', result: { id: ID } }), 500)],
      payments: { [OTHER_ID]: recordOf(OTHER_ID) },
    });
    await errorOf(shop.create());
    const { read } = shop.statements;
    let reads = 0;
    // Between the lookups and the end of the doubt the callback of another payment of it comes.
    shop.statements.read = async key => {
      reads += 1;
      if (reads === 2) await reconcile(shop.gateway, recordOf(OTHER_ID));
      return read(key);
    };
    const error = (await errorOf(shop.gateway.settle('payout-1', 'not_created'))) as Error;
    expect(error.message).toContain(`has payment ${OTHER_ID}`);
    shop.statements.read = read;
    expect(await shop.gateway.find('payout-1')).not.toHaveProperty('state', 'freed');
  });

  it('does not let an operator name what there is not', async () => {
    const shop = open({ creates: [lost] });
    await errorOf(shop.create());
    const error = await errorOf(shop.gateway.settle('payout-1', ID, { despite: ['ammount'] as never }));
    expect(error).toMatchObject({ name: 'InvalidRequestError', issues: [{ path: 'options.despite.0' }] });
  });

  it.each([
    ['rounds', { amount: 75.5 }],
    ['folds', { reference: ' PAYOUT-1' }],
  ] as [string, { amount?: number; reference?: string }][])(
    '%s: keeps the payment in mind, until it is clear whose it is',
    async (_, changes) => {
      const its = recordOf(ID, changes);
      const [despite] = Object.keys(changes) as ['amount' | 'reference'];
      const doubtful = async () => {
        const shop = open({ creates: [lost], payments: { [ID]: its } });
        await errorOf(shop.create());
        for (let times = 0; times < 2; times++) await reconcile(shop.gateway, its);
        shop.timePasses();
        expect([shop.warnings(), await shop.gateway.doubts()]).toMatchObject([
          ['create_mismatch'],
          [{ reference: 'payout-1', conflictingIds: [ID] }],
        ]);
        expect(await errorOf(shop.create())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: ID });
        expect(await errorOf(shop.gateway.settle('payout-1', 'not_created'))).toMatchObject({
          issues: [
            { path: 'reference', message: expect.stringContaining(`has payment ${ID}: settle it with that id`) },
          ],
        });
        return shop;
      };
      const byCallback = await doubtful();
      await reconcile(byCallback.gateway, recordOf(ID));
      const found = await byCallback.gateway.find('payout-1');
      expect(found).toMatchObject({ state: 'created', paymentId: ID, conflictingIds: [] });

      const byOperator = await doubtful();
      await byOperator.gateway.settle('payout-1', ID, { despite: [despite] });
      expect(await byOperator.create()).toMatchObject({ replayed: true, payment: { id: ID } });

      const anothers = await doubtful();
      const freeing = anothers.gateway.settle('payout-1', 'not_created', { despite: ['paymentId'] });
      // A payment with exactly the reference stays its payment.
      if (despite === 'amount') return expect(await errorOf(freeing)).toHaveProperty('issues');
      await freeing;
      expect(await anothers.gateway.find('payout-1')).toMatchObject({ state: 'freed' });
    },
  );

  it('takes no payment of another order whose reference differs only in case', async () => {
    const other = recordOf(ID, { reference: 'PAYOUT-1' });
    const shop = open({ creates: [json('{}', 422), lost, created(OTHER_ID)], payments: { [ID]: other } });
    await errorOf(shop.gateway.createWithdrawal({ ...PAYOUT, reference: 'PAYOUT-1' }));
    await errorOf(shop.create());
    await reconcile(shop.gateway, other);
    expect(await shop.gateway.doubts()).toMatchObject([{ reference: 'payout-1', conflictingIds: [] }]);
    expect(await shop.gateway.find('PAYOUT-1')).toMatchObject({ state: 'created', paymentId: ID });
  });
});

describe('what an operator says', () => {
  const refusal = (path: string, message: string) => ({
    name: 'InvalidRequestError',
    issues: [{ path, message: expect.stringContaining(message) }],
  });

  it("is the gateway's id of the payment, or not_created", async () => {
    const shop = open({ creates: [lost] });
    await errorOf(shop.create());
    for (const wrong of ['payout-1', 'created', '']) {
      expect(await errorOf(shop.gateway.settle('payout-1', wrong))).toMatchObject(
        refusal('paymentId', "must be the gateway's id of the payment, a UUID, or 'not_created'"),
      );
    }
    expect(shop.sent).toEqual(['POST']);
  });

  it('is refused for a reference that is unknown or free', async () => {
    const shop = open({ creates: [json('{}', 422)], payments: { [ID]: recordOf(ID) } });
    for (const resolution of [ID, 'not_created']) {
      expect(await errorOf(shop.gateway.settle('payout-1', resolution))).toMatchObject(
        refusal('reference', 'is not in the store: nothing was created under it in this scope'),
      );
    }
    await errorOf(shop.create());
    expect(await errorOf(shop.gateway.settle('payout-1', 'not_created'))).toMatchObject(
      refusal('reference', 'is free: its last create made no payment, or an operator settled it so'),
    );
  });

  it('is taken of a payment that turns up after an operator had said not_created, which is not paid again', async () => {
    const shop = open({ creates: [lost], payments: { [ID]: recordOf(ID) } });
    await errorOf(shop.create());
    shop.timePasses();
    await shop.gateway.settle('payout-1', 'not_created');
    await shop.gateway.settle('payout-1', ID);
    expect(shop.changes()).toEqual(['begun', 'in_doubt', 'freed', 'settled']);
    expect(await shop.create()).toMatchObject({ replayed: true, payment: { id: ID } });
    expect(shop.sent.filter(call => call === 'POST')).toHaveLength(1);
    // A sweep finds it, too.
    const { rows } = await shop.statements.claim({ states: ['created'] }, 1, 1);
    expect(rows).toMatchObject([{ reference: 'payout-1', paymentId: ID }]);
  });

  it('of a reference that is free compares as well, and leaves it free where the payment has failed', async () => {
    const payments = {
      [ID]: recordOf(ID, { amount: 75.5 }),
      [OTHER_ID]: recordOf(OTHER_ID, { paymentStatus: 'FAILED' }),
    };
    const shop = open({ creates: [json('{}', 422)], payments });
    await errorOf(shop.create());
    expect(await errorOf(shop.gateway.settle('payout-1', ID))).toMatchObject(
      refusal('paymentId', 'amount is "75.5" and not "75"'),
    );
    expect(await errorOf(shop.gateway.settle('payout-1', OTHER_ID))).toMatchObject(
      refusal('paymentId', 'is FAILED, and the reference is free already: create it again'),
    );
    expect(await shop.gateway.find('payout-1')).toHaveProperty('state', 'freed');
    await shop.gateway.settle('payout-1', ID, { despite: ['amount'] });
    expect(await shop.gateway.find('payout-1')).toMatchObject({ state: 'created', paymentId: ID });
  });

  it('is refused of a reference that has its payment, unless it is that one, which changes nothing', async () => {
    const payments = { [ID]: recordOf(ID, { amount: 75.5, reference: 'PAYOUT-1' }), [OTHER_ID]: recordOf(OTHER_ID) };
    const shop = open({ creates: [created(ID)], payments });
    await shop.create();
    expect(await errorOf(shop.gateway.settle('payout-1', 'not_created'))).toMatchObject(
      refusal('reference', `has payment ${ID}: there is nothing to settle`),
    );
    shop.sent.length = 0;
    expect(await errorOf(shop.gateway.settle('payout-1', OTHER_ID, { despite: ['paymentId'] }))).toMatchObject(
      refusal('reference', `already has payment ${ID}, and keeps it`),
    );
    expect(await errorOf(shop.gateway.settle('payout-1', OTHER_ID))).toHaveProperty('issues');
    await shop.gateway.settle('payout-1', ID);
    expect(shop.sent).toEqual([`GET ${OTHER_ID}`, `GET ${OTHER_ID}`, `GET ${ID}`]);
    expect(shop.changes()).toEqual(['begun', 'created']);
  });

  it('is refused for a planned payout, except not_created', async () => {
    const statements = memoryCreates({ scope: 'eu' });
    const shop = open({ creates: [lost], payments: { [ID]: recordOf(ID) }, statements });
    await shop.gateway.payOut({}, PAYOUT);
    expect(await errorOf(shop.gateway.settle('payout-1', ID))).toMatchObject(
      refusal('reference', "is planned and not sent yet: to cancel it, settle it with 'not_created'"),
    );
    await shop.gateway.settle('payout-1', 'not_created');
    expect(await shop.gateway.find('payout-1')).toMatchObject({ state: 'freed' });
  });

  it('names all that differs, and all that cannot', async () => {
    const shop = open({ creates: [lost], payments: { [ID]: recordOf(ID, { amount: 76, currency: 'USD' }) } });
    await errorOf(shop.create());
    expect(await errorOf(shop.gateway.settle('payout-1', ID))).toMatchObject(
      refusal('paymentId', 'amount is "76" and not "75"; currency is "USD" and not "EUR"'),
    );
    const despite = ['amount', 'paymentId', 'reference'] as const;
    expect(await errorOf(shop.gateway.settle('payout-1', 'not_created', { despite }))).toMatchObject(
      refusal(
        'options.despite',
        "must not contain amount, reference with 'not_created': there is no payment to compare",
      ),
    );
  });

  it('about two payments is reported, unless the other one was disproved', async () => {
    const trace = () => json(JSON.stringify({ id: OTHER_ID }), 500);
    const both = open({ creates: [trace()], payments: { [ID]: recordOf(ID), [OTHER_ID]: recordOf(OTHER_ID) } });
    await errorOf(both.create());
    await both.gateway.settle('payout-1', ID, { despite: ['paymentId'] });
    expect(both.changes()).toEqual(['begun', 'in_doubt', 'settled', 'conflict']);
    expect(both.warnings()).toEqual(['two_payments']);
    const one = open({ creates: [trace()], payments: { [ID]: recordOf(ID) } });
    await errorOf(one.create());
    await one.gateway.settle('payout-1', ID);
    expect(one.changes()).toEqual(['begun', 'in_doubt', 'settled']);
    expect(one.warnings()).toEqual([]);
  });
});

describe('an id in an error', () => {
  const trace = () => json(JSON.stringify({ id: OTHER_ID, error: 'internal' }), 500);

  it.each([
    ['is no payment', undefined],
    ['cannot be looked up', 503],
    ['is the payment of another order', recordOf(OTHER_ID, { reference: 'payout-2' })],
  ])('that %s does not keep the true callback from settling', async (_, other) => {
    const shop = open({ creates: [trace()], payments: { [ID]: recordOf(ID), ...(other && { [OTHER_ID]: other }) } });
    expect(await errorOf(shop.create())).toMatchObject({ outcome: 'unknown', paymentId: OTHER_ID });
    await reconcile(shop.gateway, recordOf(ID));
    expect([shop.warnings(), await shop.gateway.doubts()]).toEqual([[], []]);
    const entry = await shop.gateway.find('payout-1');
    expect(entry).toMatchObject({ state: 'created', paymentId: ID, conflictingIds: [OTHER_ID] });
    expect(await shop.create()).toMatchObject({ replayed: true, payment: { id: ID } });
  });

  it('does not prevent not_created once it is known to be of another reference', async () => {
    const other = recordOf(OTHER_ID, { reference: 'payout-2', amount: 9 });
    for (const payments of [{}, { [OTHER_ID]: other }]) {
      const shop = open({ creates: [trace(), created(ID)], payments });
      await errorOf(shop.create());
      shop.timePasses();
      await shop.gateway.settle('payout-1', 'not_created');
      expect(await shop.create()).toMatchObject({ replayed: false, payment: { id: ID } });
    }
  });

  it('that may be its payment is refused as not_created, unless an operator says that it is another', async () => {
    const similar = recordOf(OTHER_ID, { reference: 'payout-2' });
    const shop = open({ creates: [trace()], payments: { [OTHER_ID]: similar } });
    await errorOf(shop.create());
    shop.timePasses();
    const error = (await errorOf(shop.gateway.settle('payout-1', 'not_created'))) as Error;
    expect(error.message).toContain(`has payment ${OTHER_ID}: settle it with that id`);
    await shop.gateway.settle('payout-1', 'not_created', { despite: ['paymentId'] });
    expect(await shop.gateway.find('payout-1')).toMatchObject({ state: 'freed', conflictingIds: [] });

    const its = open({ creates: [trace()], payments: { [OTHER_ID]: recordOf(OTHER_ID, { amount: 9 }) } });
    await errorOf(its.create());
    its.timePasses();
    const despite = { despite: ['paymentId'] } as const;
    expect(await errorOf(its.gateway.settle('payout-1', 'not_created', despite))).toHaveProperty('issues');
  });
});

/** A doubt that knows an id, whose lookup is answered so. */
async function doubtWith(lookup: () => Response | Error, id = OTHER_ID) {
  let isCreated = false;
  const fetch = async () => {
    const answer = isCreated ? lookup() : json(JSON.stringify({ id }), 500);
    isCreated = true;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const statements = memoryCreates({ settleMargin: 0, now: () => Date.now() + (isCreated ? 2 * TIMEOUT : 0) });
  const gateway = new GatewayClient({ ...KEYS, store: storeOf(statements), fetch, retries: 0 });
  await errorOf(gateway.createWithdrawal(PAYOUT, { timeout: TIMEOUT }));
  return gateway;
}

describe('an id in an error that an operator says is none of its payments', () => {
  const despite = { despite: ['paymentId'] } as const;
  it.each([
    ['no such payment', () => json('{}', 404)],
    ['something that is no record', () => json('{"result":{"id":7}}')],
    ['null', () => json('null')],
    [
      'the page of a proxy that says 404, as its own pages may be',
      () => new Response('<html>404</html>', { status: 404 }),
    ],
    ['its unreadable record, without a reference', () => json(`{"result":{"id":"${OTHER_ID}","amount":{}}}`)],
    [
      'its unreadable record, of another reference',
      () => json(`{"result":{"id":"${OTHER_ID}","reference":"payout-2","amount":{}}}`),
    ],
    ...[400, 403, 500].map((status): [string, () => Response] => [`${status}`, () => json('{}', status)]),
  ])('is let go where the gateway shows %s', async (_, lookup) => {
    const gateway = await doubtWith(lookup);
    await gateway.settle('payout-1', 'not_created', despite);
    expect(await gateway.find('payout-1')).toMatchObject({ state: 'freed' });
  });

  it.each([400, 403, 500])(
    'is compared no more with the right payment, and nothing is settled without a word: %i',
    async status => {
      const trace = json(JSON.stringify({ id: OTHER_ID }), 500);
      const shop = open({ creates: [trace], payments: { [ID]: recordOf(ID), [OTHER_ID]: status } });
      await errorOf(shop.create());
      shop.timePasses();
      for (const resolution of [ID, 'not_created'])
        expect(await errorOf(shop.gateway.settle('payout-1', resolution))).toMatchObject({ name: 'ApiError', status });
      await shop.gateway.settle('payout-1', ID, despite);
      expect(await shop.gateway.find('payout-1')).toMatchObject({ paymentId: ID, conflictingIds: [OTHER_ID] });
    },
  );

  it.each([
    [
      'the page of a proxy',
      () => new Response('<html>busy</html>', { headers: { 'content-type': 'text/html' } }),
      'ResponseError',
    ],
    ['nothing at all', () => lost, 'ConnectionError'],
    [
      'its unreadable record, of exactly the reference',
      () => json(`{"result":{"id":"${OTHER_ID}","reference":"payout-1","amount":{}}}`),
      'ResponseError',
    ],
    [
      'its unreadable record, unwrapped',
      () => json(`{"id":"${OTHER_ID.toUpperCase()}","reference":"payout-1","amount":{}}`),
      'ResponseError',
    ],
    ...[401, 429, 503, 520].map((status): [string, () => Response, string] => [
      `${status}`,
      () => json('{}', status),
      'ApiError',
    ]),
  ])('stays where it shows %s', async (_, lookup, name) => {
    const gateway = await doubtWith(lookup);
    expect(await errorOf(gateway.settle('payout-1', 'not_created', despite))).toMatchObject({ name });
    expect(await gateway.find('payout-1')).toMatchObject({ state: 'begun', paymentId: OTHER_ID });
  });
});

describe('a payment whose record has an invalid field', () => {
  const unreadable = (fields: object) => () =>
    json(
      JSON.stringify({ result: { id: ID, paymentStatus: 'COMPLETED', reference: 'payout-1', amount: {}, ...fields } }),
    );
  const despite = { despite: ['unreadable'] } as const;

  it('is the payment of its create if an operator says so, in status UNKNOWN', async () => {
    const gateway = await doubtWith(unreadable({}), ID);
    expect(await errorOf(gateway.settle('payout-1', ID))).toMatchObject({ name: 'ResponseError' });
    await gateway.settle('payout-1', ID, despite);
    const replay = await gateway.createWithdrawal(PAYOUT);
    expect(replay).toMatchObject({ replayed: true, payment: { id: ID, paymentStatus: 'UNKNOWN' } });
  });

  it.each([
    ['has another reference', unreadable({ reference: 'payout-2' }), 'InvalidRequestError'],
    ['has another id', unreadable({ id: THIRD_ID }), 'ResponseError'],
    ['is the page of a proxy', () => new Response('<html>busy</html>'), 'ResponseError'],
  ])('is refused if its record %s', async (_, lookup, name) => {
    const gateway = await doubtWith(lookup, ID);
    expect(await errorOf(gateway.settle('payout-1', ID, despite))).toMatchObject({ name });
    expect(await gateway.find('payout-1')).toMatchObject({ state: 'begun' });
  });
});

describe('a create that finds a doubt with an id', () => {
  const trace = (id = ID) => json(JSON.stringify({ id }), 500);
  const folded = recordOf(ID, { reference: ' PAYOUT-1' });

  it('settles it by a lookup, also where the gateway folds references, and tells so', async () => {
    for (const found of [recordOf(ID), folded]) {
      const shop = open({ creates: [trace()], payments: { [ID]: found } });
      await errorOf(shop.create());
      expect(await shop.create()).toMatchObject({ replayed: true, stale: false, payment: { id: ID } });
      expect(shop.changes()).toEqual(['begun', 'in_doubt', 'settled']);
      expect(shop.warnings()).toEqual([]);
    }
  });

  it('does not settle it with a folded reference that only a callback has named', async () => {
    const shop = open({ creates: [trace(OTHER_ID)], payments: { [ID]: folded } });
    await errorOf(shop.create());
    await reconcile(shop.gateway, folded);
    expect(await errorOf(shop.create())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: OTHER_ID });
  });

  it('stays in doubt if the store fails to settle it: the next create tries again', async () => {
    const shop = open({ creates: [trace()], payments: { [ID]: recordOf(ID) } });
    await errorOf(shop.create());
    const { replace } = shop.statements;
    const cause = new Error('read-only');
    shop.statements.replace = () => Promise.reject(cause);
    expect(await errorOf(shop.create())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: ID, cause });
    shop.statements.replace = replace;
    expect(await shop.create()).toMatchObject({ replayed: true, payment: { id: ID } });
  });
});

describe('a payment that is known', () => {
  it('is not looked up again once it is completed', async () => {
    const shop = open({ creates: [created(ID, { paymentStatus: 'COMPLETED' })] });
    await shop.create();
    expect(await shop.create()).toMatchObject({ replayed: true, stale: false, payment: { id: ID } });
    expect(shop.sent).toEqual(['POST']);
  });
});

/** Answers a create after the callback of its payment. */
async function answerAfter(gateway: GatewayClient, payment: Payment, answer: Response | Error): Promise<Response> {
  await reconcile(gateway, payment);
  if (answer instanceof Error) throw answer;
  return answer.clone();
}

describe('a callback that comes before the answer', () => {
  const failed = recordOf(OTHER_ID, { paymentStatus: 'FAILED' });
  const rounded = recordOf(ID, { amount: 75.5 });
  it.each<[string, Response | Error, Payment, object, string[]]>([
    ['a refusal', json('{}', 422), recordOf(ID), { replayed: true }, ['settled', 'replayed']],
    ['an error', json('{}', 500), recordOf(ID), { replayed: true }, ['settled', 'replayed']],
    ['a lost connection', lost, recordOf(ID), { replayed: true }, ['settled', 'replayed']],
    ['a refusal with a failed payment', json('{}', 422), failed, { replayed: true }, ['settled', 'replayed']],
    ['a refusal, but differs', json('{}', 422), rounded, { name: 'PaymentInDoubtError' }, ['in_doubt']],
    ['a name that is not found, but differs', hostNotFound(), rounded, { name: 'PaymentInDoubtError' }, ['in_doubt']],
  ])('counts more than %s', async (_, answer, seen, expected, changes) => {
    const shop = open({
      creates: [() => answerAfter(shop.gateway, seen, answer)],
      payments: { [seen.id]: seen },
    });
    const { id, paymentStatus } = seen;
    const result = await shop.create().catch(error => error);
    const isDoubt = result instanceof Error;
    expect(result).toMatchObject({
      ...expected,
      ...(isDoubt ? { paymentId: id } : { payment: { id, paymentStatus } }),
    });
    expect(shop.changes()).toEqual(['begun', ...changes]);
  });
});

describe('a reference that another request has taken before the answer', () => {
  it('does not answer for a create whose own outcome is unknown', async () => {
    const shop = open({
      creates: [
        async () => {
          const { rows } = await shop.statements.list({ states: ['begun'] });
          const [row] = rows;
          if (!row) throw new Error('There is no row.');
          const others = { attemptId: 'another', bodyHash: 'another', amount: '9', paymentId: OTHER_ID };
          const result = { payment: recordOf(OTHER_ID, { amount: 9 }) };
          await shop.statements.replace({ ...row, ...others, state: 'created', result }, row.revision);
          throw lost;
        },
      ],
    });
    expect(await errorOf(shop.create())).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
    expect(shop.changes()).toEqual(['begun', 'in_doubt']);
  });
});

describe('a failed payment that a gateway keeps of a refused attempt', () => {
  const failed = recordOf(OTHER_ID, { paymentStatus: 'FAILED' });

  it('is not taken for that of the next attempt, whose answer is lost', async () => {
    const shop = open({
      creates: [json('{}', 422), () => answerAfter(shop.gateway, failed, lost)],
      payments: { [OTHER_ID]: failed, [ID]: recordOf(ID) },
    });
    await errorOf(shop.create());
    expect(await errorOf(shop.create())).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
    expect(await errorOf(shop.create())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: OTHER_ID });
    await reconcile(shop.gateway, recordOf(ID));
    expect(await shop.create()).toMatchObject({ payment: { id: ID, paymentStatus: 'PENDING' } });
  });

  it('stands behind another payment of the reference that has not failed', async () => {
    const completed = recordOf(ID, { paymentStatus: 'COMPLETED' } as never);
    const shop = open({ creates: [created(OTHER_ID)], payments: { [ID]: completed } });
    await shop.create();
    await reconcile(shop.gateway, completed);
    shop.payments[OTHER_ID] = failed;
    expect(await shop.create()).toMatchObject({ payment: { id: ID, paymentStatus: 'COMPLETED' } });
    await reconcile(shop.gateway, failed);
    expect(await shop.create()).toMatchObject({ payment: { id: ID, paymentStatus: 'COMPLETED' } });
  });
});

describe('a customer who comes back', () => {
  it('after a declined payment gets the payment as it is: FAILED, and nowhere to go', async () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, store: storeOf(memoryCreates()) });
    const order = { ...PAYOUT, paymentMethod: 'CARD' } as const;
    const first = await gateway.createDeposit(order);
    expect(first.nextAction.type).toBe('redirect');
    const second = await gateway.createDeposit(order);
    expect([second.replayed, second.stale, second.nextAction]).toEqual([true, false, first.nextAction]);
    await sandbox.fail(first.payment.id, { reason: 'declined' });
    expect(await gateway.createDeposit(order)).toMatchObject({
      replayed: true,
      stale: false,
      payment: { id: first.payment.id, paymentStatus: 'FAILED' },
      nextAction: { type: 'wait' },
    });
  });

  it.each([
    ['cannot answer', 503],
    ['has lost the payment', 404],
  ])('while the gateway %s gets it as it was last seen: stale', async (_, status) => {
    const shop = open({ creates: [created(ID)], payments: { [ID]: status } });
    const first = await shop.create();
    expect(await shop.create()).toMatchObject({ payment: { id: ID }, replayed: true, stale: true });
    expect([first.stale, shop.warnings()]).toEqual([false, ['stale_replay']]);
  });

  it('gets the status of a callback that came while the lookup hung, as does a later create', async () => {
    const hung = Promise.withResolvers<Response>();
    const statements = memoryCreates();
    let lookups = 0;
    const fetch = async (_url: string, init: FetchInit) => {
      if (init.method === 'POST') return created(ID);
      lookups += 1;
      return hung.promise;
    };
    const gateway = new GatewayClient({ ...KEYS, store: storeOf(statements), fetch, retries: 0 });
    await gateway.createWithdrawal(PAYOUT);
    const first = gateway.createWithdrawal(PAYOUT);
    await expect.poll(() => lookups).toBe(1);
    await reconcile(gateway, recordOf(ID, { paymentStatus: 'COMPLETED' }));
    const second = gateway.createWithdrawal(PAYOUT, { timeout: 500 });
    expect(await second).toMatchObject({ payment: { paymentStatus: 'COMPLETED' }, stale: false });
    expect(lookups).toBe(1);
    hung.reject(lost);
    expect(await first).toMatchObject({ payment: { paymentStatus: 'COMPLETED' }, stale: false });
  });

  it('waits no longer than the time-out for a store that hangs after a lookup that hangs', async () => {
    const memory = memoryCreates();
    const read: Creates['read'] = () => new Promise(() => {});
    const fetch = async (_url: string, init: FetchInit) =>
      init.method === 'POST' ? created(ID) : new Promise<Response>(() => {});
    const gateway = new GatewayClient({ ...KEYS, store: storeOf({ ...memory, read }), fetch, retries: 0 });
    await gateway.createWithdrawal(PAYOUT);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    const again = gateway.createWithdrawal(PAYOUT, { timeout: 100 });
    expect(await whileTimePasses(again, 5)).toMatchObject({ stale: true });
  });
});

describe('a create that joins a running one', () => {
  /** A create whose answer comes when it is let go. */
  function held() {
    const answer = Promise.withResolvers<Response>();
    const aborted: string[] = [];
    const arrived = Promise.withResolvers<void>();
    const shop = open({
      creates: [
        init => {
          init.signal.addEventListener('abort', () => aborted.push('aborted'));
          arrived.resolve();
          return answer.promise;
        },
      ],
    });
    return { ...shop, answer, aborted, arrived: arrived.promise };
  }

  it("waits on after the first one's time-out", async () => {
    vi.useFakeTimers();
    const shop = held();
    const first = errorOf(shop.create({ timeout: 30 }));
    const second = shop.create({ timeout: 5_000 });
    await shop.arrived;
    await vi.advanceTimersByTimeAsync(30);
    expect(await first).toMatchObject({ name: 'ConnectionError', code: 'timeout', outcome: 'unknown' });
    expect(shop.aborted).toEqual([]);
    shop.answer.resolve(created(ID));
    expect(await second).toMatchObject({ replayed: true, payment: { id: ID } });
    expect(shop.sent).toEqual(['POST']);
  });

  it('is given up when the last of them has left, and says what became of it', async () => {
    const shop = held();
    const [one, other] = [new AbortController(), new AbortController()];
    const first = errorOf(shop.create({ signal: one.signal }));
    const second = errorOf(shop.create({ signal: other.signal }));
    await shop.arrived;
    one.abort();
    await first;
    expect(shop.aborted).toEqual([]);
    other.abort();
    expect(await second).toMatchObject({ name: 'ConnectionError', code: 'aborted', outcome: 'unknown' });
    expect(shop.aborted).toEqual(['aborted']);
    expect(await shop.gateway.doubts()).toMatchObject([{ reference: 'payout-1' }]);
  });

  it("sends nothing after the first one's deadline", async () => {
    vi.useFakeTimers();
    const statements = memoryCreates();
    const insert: Creates['insert'] = async row => {
      await new Promise(resolve => setTimeout(resolve, 500));
      return statements.insert(row);
    };
    const shop = open({ creates: [created(ID)], statements: { ...statements, insert } });
    const first = errorOf(shop.create({ timeout: 100 }));
    const second = errorOf(shop.create({ timeout: 10_000 }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await first).toHaveProperty('outcome');
    expect(await second).toMatchObject({ name: 'StoreError', outcome: 'not_sent' });
    expect([shop.sent, await shop.gateway.doubts()]).toEqual([[], []]);
  });

  it('joins the running one only with the same request', async () => {
    const shop = held();
    const first = shop.create();
    await shop.arrived;
    const other = await errorOf(shop.gateway.createWithdrawal({ ...PAYOUT, amount: '76' }));
    expect(other).toMatchObject({ name: 'DuplicateReferenceError', differing: ['amount'], outcome: 'unknown' });
    shop.answer.resolve(created(ID));
    await first;
  });
});

describe('the entry of a reference', () => {
  it('is found at every step', async () => {
    const shop = open({ creates: [lost, created(ID)], scope: 'eu' });
    expect(await shop.gateway.find('payout-1')).toBeUndefined();
    await errorOf(shop.create());
    const asked = { scope: 'eu', reference: 'payout-1', paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' };
    const base = { ...asked, amount: '75', currency: 'EUR', since: expect.any(Date), conflictingIds: [] };
    shop.timePasses();
    expect(await shop.gateway.find('payout-1')).toEqual({ ...base, state: 'begun', underWay: false });
    expect(await shop.gateway.doubts()).toEqual([{ ...base, underWay: false }]);
    await shop.gateway.settle('payout-1', 'not_created');
    expect(await shop.gateway.find('payout-1')).toEqual({ ...base, state: 'freed', underWay: false });
    await shop.create();
    const entry = await shop.gateway.find('payout-1');
    expect(entry).toMatchObject({ ...base, state: 'created', underWay: false, paymentId: ID });
    expect(entry?.payment).toMatchObject({ id: ID, paymentStatus: 'PENDING' });
    expect(shop.changes()).toEqual(['begun', 'in_doubt', 'freed', 'begun', 'created']);
  });

  it.each([
    ['find', (gateway: GatewayClient, options: object) => gateway.find('payout-1', options)],
    ['inDoubt', (gateway: GatewayClient, options: object) => gateway.doubts(options)],
    ['settle', (gateway: GatewayClient, options: object) => gateway.settle('payout-1', 'not_created', options)],
  ])('%s ends at its time-out and at its signal', async (_, call) => {
    const never = () => new Promise<never>(() => {});
    const shop = open({ creates: [lost], statements: { ...memoryCreates(), read: never, list: never } });
    expect(await errorOf(call(shop.gateway, { timeout: 5 }))).toMatchObject({
      name: 'ConnectionError',
      code: 'timeout',
    });
    const signal = AbortSignal.timeout(5);
    expect(await errorOf(call(shop.gateway, { signal }))).toMatchObject({ name: 'ConnectionError', code: 'aborted' });
  });

  it('is not settled by a call that was stopped before it began', async () => {
    const shop = open({ creates: [lost] });
    await errorOf(shop.create());
    shop.timePasses();
    const stopped = shop.gateway.settle('payout-1', 'not_created', { signal: AbortSignal.abort() });
    expect(await errorOf(stopped)).toMatchObject({ code: 'aborted' });
    expect(await shop.gateway.find('payout-1')).toMatchObject({ state: 'begun' });
  });
});

describe('what a store keeps', () => {
  const customer = {
    firstName: 'Zoë-secret',
    lastName: 'Nowak-secret',
    email: 'zoe-secret@example.com',
    phone: '+48-secret',
    ipaddress: '203.0.113.secret',
    dateOfBirth: '1990-secret',
    referenceId: 'customer-secret',
  };
  const request = {
    ...PAYOUT,
    customer,
    billingAddress: { address1: 'Ulica-secret', city: 'Łódź-secret', countryCode: 'PL' },
    additionalParameters: { iban: 'PL61-secret', destination_wallet: '0x-secret' },
    description: 'for Zoë-secret',
    browser: { userAgent: 'secret' },
  } as const;
  const echoed = {
    customer,
    billingAddress: request.billingAddress,
    description: request.description,
    errorMessage: 'refused Zoë-secret',
    destination_wallet: '0x-secret',
    somethingNew: { name: 'Zoë-secret' },
  };

  it('has nothing of the customer, whatever happens', async () => {
    const written: string[] = [];
    const memory = memoryCreates({ settleMargin: 0 });
    const spying = (method: 'insert' | 'replace') =>
      (async (...args: never[]) => {
        written.push(JSON.stringify(args));
        return (memory[method] as (...args: never[]) => unknown)(...args);
      }) as never;
    const statements = { ...memory, insert: spying('insert'), replace: spying('replace') };
    const full = (id: string, changes: object = {}) => recordOf(id, { ...echoed, ...changes });
    const shop = open({
      statements,
      creates: [
        json(JSON.stringify(full(ID)), 500),
        json(JSON.stringify({ result: full(THIRD_ID, { reference: 'payout-2' }) }), 201),
      ],
      payments: { [ID]: full(ID), [OTHER_ID]: full(OTHER_ID, { paymentStatus: 'COMPLETED' }) },
    });
    const create = (reference: string) =>
      shop.gateway.createWithdrawal({ ...request, reference }, { extra: { iban: 'secret' } });
    await errorOf(create('payout-1'));
    await create('payout-1'); // settles by a lookup
    await create('payout-1'); // replays
    await reconcile(shop.gateway, full(ID, { paymentStatus: 'AUTHORIZED' }));
    await reconcile(shop.gateway, full(OTHER_ID)); // conflicts
    await create('payout-2');
    await reconcile(shop.gateway, full(OTHER_ID, { reference: 'payout-3', paymentStatus: 'REFUNDED' }));
    expect(written.length).toBeGreaterThan(6);
    expect(written.filter(text => text.includes('secret'))).toEqual([]);
    expect(await shop.gateway.find('payout-1')).toMatchObject({ payment: { paymentStatus: 'AUTHORIZED', amount: 75 } });
  });
});
