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

type Lookup = () => Response | Promise<Response>;

interface Script {
  /** What creates are answered, in order; the last one for ever. */
  creates: (Response | Error | ((init: FetchInit) => Promise<Response>))[];
  /** What lookups find; another id is a 404, a number is an error status. */
  payments?: Record<string, Payment | number | Lookup>;
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
  const lookUp = (found: Payment | number | Lookup = 404) => {
    if (typeof found === 'function') return found();
    return typeof found === 'number' ? json('{}', found) : json(JSON.stringify({ result: found }));
  };
  const fetch = async (url: string, init: FetchInit) => {
    const id = url.split('/').at(-1) ?? '';
    sent.push(init.method === 'POST' ? 'POST' : `GET ${id}`);
    if (init.method === 'GET') return lookUp(payments[id]);
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
  return {
    ...{ gateway, statements, payments, sent, timePasses },
    changes: () => events.flatMap(event => (event.type === 'store' ? [event.change] : [])),
    warnings: () => events.flatMap(event => (event.type === 'warning' ? [event.code] : [])),
    create: (options?: object) => gateway.createWithdrawal(PAYOUT, { timeout: TIMEOUT, ...options }),
    settle: (resolution: string, ...despite: string[]) =>
      gateway.settle('payout-1', resolution, { despite: despite as never }),
    find: () => gateway.find('payout-1'),
  };
}

/** A shop whose create has failed. */
async function openFailed(script: Script) {
  const shop = open(script);
  const error = await errorOf(shop.create());
  return { ...shop, error };
}

const never = () => new Promise<never>(() => {});
const lost = networkError('ECONNRESET', 'read');
const refusal = json('{}', 422);
/** An error that names an id. */
const trace = (id = OTHER_ID) => json(JSON.stringify({ id, error: 'internal' }), 500);
const created = (id: string, changes: object = {}) => json(JSON.stringify({ result: recordOf(id, changes) }), 201);

describe('a gateway that writes the payment otherwise', () => {
  it.each<[string, Partial<Payment>, string[]]>([
    ['trims and upper-cases the reference', { reference: 'PAYOUT-1' }, ['reference']],
    ['cuts the reference', { reference: 'payout' }, ['reference']],
    ['rounds the amount', { amount: 75.01 }, ['amount']],
    ['does both', { reference: 'PAYOUT-1', amount: 76 }, ['reference', 'amount']],
    ['changes type and currency', { paymentType: 'DEPOSIT', currency: 'USD' }, ['paymentType', 'currency']],
  ])('%s: the error names what differs, and `despite` settles it', async (_, changes, differing) => {
    const shop = await openFailed({ creates: [lost], payments: { [ID]: recordOf(ID, changes) } });
    await reconcile(shop.gateway, recordOf(ID, changes));
    const error = (await errorOf(shop.settle(ID))) as Error;
    const [name = '', ...others] = differing;
    expect(error).toMatchObject({ name: 'InvalidRequestError', issues: [{ path: 'paymentId' }] });
    expect(error.message).toContain(`${name} is "${Object.values(changes)[0]}" and not`);
    expect(error.message).toContain(`pass { despite: [${differing.map(name => `'${name}'`).join(', ')}] }`);
    expect(await errorOf(shop.settle(ID, ...others))).toHaveProperty('issues');
    await shop.settle(ID, ...differing);
    expect(await shop.create()).toMatchObject({ replayed: true, payment: { id: ID } });
    expect(shop.sent.filter(call => call === 'POST')).toHaveLength(1);
    expect(shop.changes().filter(change => change !== 'created')).toEqual(['begun', 'in_doubt', 'settled']);
  });

  it('does not settle with the payment of another create, or with none, whatever an operator says', async () => {
    const its = recordOf(ID, { reference: 'payout-2' });
    const creates = [lost, created(ID, { reference: 'payout-2' })];
    const shop = await openFailed({ creates, payments: { [ID]: its } });
    await shop.gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-2' });
    expect(await errorOf(shop.settle(ID, 'reference', 'paymentId'))).toMatchObject({
      issues: [{ path: 'paymentId', message: expect.stringContaining('belongs to reference "payout-2"') }],
    });
    expect(await errorOf(shop.settle(OTHER_ID))).toHaveProperty('name', 'PaymentNotFoundError');
    expect(await shop.find()).toHaveProperty('state', 'begun');
  });

  it('settles with a payment that the store knows only from its callback', async () => {
    const cut = recordOf(ID, { reference: 'payout' });
    const shop = await openFailed({ creates: [lost], payments: { [ID]: cut } });
    await reconcile(shop.gateway, cut);
    expect(await shop.gateway.find('payout')).toMatchObject({ state: 'created', paymentId: ID });
    await shop.settle(ID, 'reference');
    expect(await shop.find()).toMatchObject({ state: 'created', paymentId: ID });
    // Its next callback changes no other reference.
    await reconcile(shop.gateway, { ...cut, paymentStatus: 'COMPLETED' } as Payment);
    expect(await shop.find()).toMatchObject({ payment: { paymentStatus: 'COMPLETED' } });
    expect(await shop.gateway.find('payout')).toHaveProperty('state', 'freed');
  });

  it.each([{}, { amount: 9 }])('is not given up while another id of it comes to light: %j', async changes => {
    const shop = await openFailed({ creates: [trace(ID)] });
    const { read } = shop.statements;
    let reads = 0;
    // Between the lookups and the end of the doubt the callback of another payment of it comes.
    shop.statements.read = async key => {
      reads += 1;
      if (reads === 2) await reconcile(shop.gateway, recordOf(OTHER_ID, changes));
      return read(key);
    };
    expect(String(await errorOf(shop.settle('not_created')))).toContain(`has payment ${OTHER_ID}`);
    shop.statements.read = read;
    expect(await shop.find()).not.toHaveProperty('state', 'freed');
  });

  it.each<[string, 'amount' | 'reference', object]>([
    ['rounds', 'amount', { amount: 75.5 }],
    ['folds', 'reference', { reference: ' PAYOUT-1' }],
  ])('%s: keeps the payment in mind, until it is clear whose it is', async (_, despite, changes) => {
    const its = recordOf(ID, changes);
    const doubtful = async () => {
      const shop = await openFailed({ creates: [lost], payments: { [ID]: its } });
      for (let times = 0; times < 2; times++) await reconcile(shop.gateway, its);
      shop.timePasses();
      expect(shop.warnings()).toEqual(['create_mismatch']);
      expect(await shop.gateway.doubts()).toMatchObject([{ reference: 'payout-1', conflictingIds: [ID] }]);
      expect(await errorOf(shop.create())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: ID });
      const settled = String(await errorOf(shop.settle('not_created')));
      expect(settled).toContain(`reference: has payment ${ID}: settle it with that id`);
      return shop;
    };
    const byCallback = await doubtful();
    await reconcile(byCallback.gateway, recordOf(ID));
    expect(await byCallback.find()).toMatchObject({ state: 'created', paymentId: ID, conflictingIds: [] });

    const byOperator = await doubtful();
    await byOperator.settle(ID, despite);
    expect(await byOperator.create()).toMatchObject({ replayed: true, payment: { id: ID } });

    const anothers = await doubtful();
    const freeing = anothers.settle('not_created', 'paymentId');
    // A payment with exactly the reference stays its payment.
    if (despite === 'amount') return expect(await errorOf(freeing)).toHaveProperty('issues');
    await freeing;
    expect(await anothers.find()).toMatchObject({ state: 'freed' });
  });

  it('takes no payment of another order whose reference differs only in case', async () => {
    const other = recordOf(ID, { reference: 'PAYOUT-1' });
    const shop = open({ creates: [refusal, lost, created(OTHER_ID)], payments: { [ID]: other } });
    await errorOf(shop.gateway.createWithdrawal({ ...PAYOUT, reference: 'PAYOUT-1' }));
    await errorOf(shop.create());
    await reconcile(shop.gateway, other);
    expect(await shop.gateway.doubts()).toMatchObject([{ reference: 'payout-1', conflictingIds: [] }]);
    expect(await shop.gateway.find('PAYOUT-1')).toMatchObject({ state: 'created', paymentId: ID });
  });
});

describe('what an operator says', () => {
  const FAILED_ID = '0f7a4f0e-53a4-4c68-9c1c-5b6d1f1e8a11';
  const PAYMENTS = {
    [ID]: recordOf(ID),
    [OTHER_ID]: recordOf(OTHER_ID),
    [THIRD_ID]: recordOf(THIRD_ID, { amount: 76, currency: 'USD' }),
    [FAILED_ID]: recordOf(FAILED_ID, { paymentStatus: 'FAILED' }),
  };
  const DIFFERS = 'amount is "76" and not "75"; currency is "USD" and not "EUR"';
  const NO_ID = "must be the gateway's id of the payment, a UUID, or 'not_created'";
  const ANSWERS = { unknown: lost, planned: lost, begun: lost, freed: refusal, created: created(ID) };

  it.each<[state: keyof typeof ANSWERS, resolution: string, despite: string[], path: string, message: string]>([
    ['unknown', ID, [], 'reference', 'is not in the store: nothing was created under it in this scope'],
    ['unknown', 'not_created', [], 'reference', 'is not in the store: nothing was created under it in this scope'],
    ['planned', ID, [], 'reference', "is planned and not sent yet: to cancel it, settle it with 'not_created'"],
    ['begun', 'payout-1', [], 'paymentId', NO_ID],
    ['begun', 'created', [], 'paymentId', NO_ID],
    ['begun', '', [], 'paymentId', NO_ID],
    ['begun', ID, ['ammount'], 'options.despite.0', ''],
    ['begun', THIRD_ID, [], 'paymentId', DIFFERS],
    ['freed', 'not_created', [], 'reference', 'is free: its last create made no payment, or an operator settled it so'],
    ['freed', THIRD_ID, [], 'paymentId', DIFFERS],
    ['freed', FAILED_ID, [], 'paymentId', 'is FAILED, and the reference is free already: create it again'],
    ['created', 'not_created', [], 'reference', `has payment ${ID}: there is nothing to settle`],
    ['created', OTHER_ID, [], 'reference', `already has payment ${ID}, and keeps it`],
    ['created', OTHER_ID, ['paymentId'], 'reference', `already has payment ${ID}, and keeps it`],
  ])('is refused if it is senseless: of a reference that is %s, %s despite %j', async (...row) => {
    const [state, resolution, despite, path, message] = row;
    const shop = open({ creates: [ANSWERS[state]], payments: PAYMENTS });
    if (state === 'planned') await shop.gateway.payOut({}, PAYOUT);
    else if (state !== 'unknown') await shop.create().catch(() => {});
    expect(await errorOf(shop.settle(resolution, ...despite))).toMatchObject({
      name: 'InvalidRequestError',
      issues: [{ path, message: expect.stringContaining(message) }],
    });
    expect((await shop.find())?.state ?? 'unknown').toBe(state);
  });

  it('is taken of a payment that turns up after an operator had said not_created, which is not paid again', async () => {
    const shop = await openFailed({ creates: [lost], payments: { [ID]: recordOf(ID) } });
    shop.timePasses();
    await shop.settle('not_created');
    await shop.settle(ID);
    expect(shop.changes()).toEqual(['begun', 'in_doubt', 'freed', 'settled']);
    expect(await shop.create()).toMatchObject({ replayed: true, payment: { id: ID } });
    expect(shop.sent.filter(call => call === 'POST')).toHaveLength(1);
    // A sweep finds it, too.
    const { rows } = await shop.statements.claim({ states: ['created'] }, 1, 1);
    expect(rows).toMatchObject([{ reference: 'payout-1', paymentId: ID }]);
  });

  it('changes nothing of a reference that has this payment, even if it differs', async () => {
    const shop = open({ creates: [created(ID)], payments: { [ID]: recordOf(ID, { amount: 75.5 }) } });
    await shop.create();
    await shop.settle(ID);
    expect(shop.changes()).toEqual(['begun', 'created']);
  });

  it('about two payments is reported', async () => {
    const payments = { [ID]: recordOf(ID), [OTHER_ID]: recordOf(OTHER_ID) };
    const shop = await openFailed({ creates: [trace()], payments });
    expect(String(await errorOf(shop.settle(ID)))).toContain('both may have been paid');
    await shop.settle(ID, 'paymentId');
    expect(shop.changes()).toEqual(['begun', 'in_doubt', 'settled']);
    expect(shop.warnings()).toEqual(['two_payments']);
  });
});

describe('an id in an error', () => {
  it.each([
    ['is no payment', undefined],
    ['cannot be looked up', 503],
    ['is the payment of another order', recordOf(OTHER_ID, { reference: 'payout-2' })],
  ])('that %s does not keep the true callback from settling', async (_, other) => {
    const payments = { [ID]: recordOf(ID), ...(other && { [OTHER_ID]: other }) };
    const shop = await openFailed({ creates: [trace()], payments });
    expect(shop.error).toMatchObject({ outcome: 'unknown', paymentId: OTHER_ID });
    await reconcile(shop.gateway, recordOf(ID));
    expect([shop.warnings(), await shop.gateway.doubts()]).toEqual([[], []]);
    expect(await shop.find()).toMatchObject({ state: 'created', paymentId: ID, conflictingIds: [OTHER_ID] });
    expect(await shop.create()).toMatchObject({ replayed: true, payment: { id: ID } });
  });

  it('does not prevent not_created once it is known to be of another reference', async () => {
    const other = recordOf(OTHER_ID, { reference: 'payout-2', amount: 9 });
    for (const payments of [{}, { [OTHER_ID]: other }]) {
      const shop = await openFailed({ creates: [trace(), created(ID)], payments });
      shop.timePasses();
      await shop.settle('not_created');
      expect(await shop.create()).toMatchObject({ replayed: false, payment: { id: ID } });
    }
  });

  it.each([
    ['another', recordOf(OTHER_ID, { reference: 'payout-2' }), 'freed'],
    ['another, and the gateway its own', recordOf(OTHER_ID, { amount: 9 }), 'begun'],
  ])('that may be its payment is refused as not_created, until an operator says that it is %s', async (...row) => {
    const [, similar, state] = row;
    const shop = await openFailed({ creates: [trace()], payments: { [OTHER_ID]: similar } });
    shop.timePasses();
    const error = await errorOf(shop.settle('not_created'));
    expect(String(error)).toContain(`has payment ${OTHER_ID}: settle it with that id`);
    await shop.settle('not_created', 'paymentId').catch(() => {});
    expect(await shop.find()).toMatchObject({ state });
  });
});

/** A doubt that knows an id, whose lookup is answered so. */
async function doubtWith(lookup: () => Response | Promise<Response>, id = OTHER_ID) {
  const shop = await openFailed({ creates: [trace(id)], payments: { [id]: lookup } });
  shop.timePasses();
  return shop;
}
const unreadable = (fields: object) => () => json(JSON.stringify({ result: { amount: {}, ...fields } }));
const page = () => new Response('<html>busy</html>', { headers: { 'content-type': 'text/html' } });
const answered = (...statuses: number[]) =>
  statuses.map((status): [string, () => Response] => [`${status}`, () => json('{}', status)]);

describe('an id in an error that an operator says is none of its payments', () => {
  it.each<[string, () => Response]>([
    ['no such payment', () => json('{}', 404)],
    ['a page that says 404, as those of a proxy may', () => new Response('<html>404</html>', { status: 404 })],
  ])('is let go where the gateway shows %s', async (_, lookup) => {
    const shop = await doubtWith(lookup);
    await shop.settle('not_created', 'paymentId');
    expect(await shop.find()).toMatchObject({ state: 'freed' });
  });

  it.each([400, 403, 500])('is not compared with the right payment, but only by his word: %i', async status => {
    const payments = { [ID]: recordOf(ID), [OTHER_ID]: status };
    const shop = await openFailed({ creates: [trace()], payments });
    shop.timePasses();
    expect(await errorOf(shop.settle(ID))).toHaveProperty('issues');
    expect(await errorOf(shop.settle('not_created'))).toMatchObject({ name: 'ApiError', status });
    await shop.settle(ID, 'paymentId');
    expect(await shop.find()).toMatchObject({ paymentId: ID, conflictingIds: [OTHER_ID] });
  });

  it.each<[string, () => Response | Promise<Response>, string?]>([
    ['the page of a proxy', page, 'ResponseError'],
    ['nothing at all', () => Promise.reject(lost), 'ConnectionError'],
    ['its unreadable record', unreadable({ id: OTHER_ID, reference: 'payout-1' }), 'ResponseError'],
    ...answered(400, 401, 403, 429, 500, 503, 520),
  ])('stays where it shows %s', async (_, lookup, name = 'ApiError') => {
    const shop = await doubtWith(lookup);
    expect(await errorOf(shop.settle('not_created', 'paymentId'))).toMatchObject({ name });
    expect(await shop.find()).toMatchObject({ state: 'begun', paymentId: OTHER_ID });
  });
});

describe('a create that finds a doubt with an id', () => {
  const folded = recordOf(ID, { reference: ' PAYOUT-1' });

  it('settles it by a lookup, also where the gateway folds references, and tells so', async () => {
    for (const found of [recordOf(ID), folded]) {
      const shop = await openFailed({ creates: [trace(ID)], payments: { [ID]: found } });
      expect(await shop.create()).toMatchObject({ replayed: true, stale: false, payment: { id: ID } });
      expect([shop.changes(), shop.warnings()]).toEqual([['begun', 'in_doubt', 'settled'], []]);
    }
  });

  it('does not settle it with a folded reference that only a callback has named', async () => {
    const shop = await openFailed({ creates: [trace()], payments: { [ID]: folded } });
    await reconcile(shop.gateway, folded);
    expect(await errorOf(shop.create())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: OTHER_ID });
  });

  it('does not answer with the payment if an operator has given it to another reference', async () => {
    const shop = await openFailed({
      creates: [trace(ID), lost],
      payments: { [ID]: recordOf(ID, { reference: null }) },
    });
    await errorOf(shop.gateway.createWithdrawal({ ...PAYOUT, reference: 'payout-2' }));
    await shop.gateway.settle('payout-2', ID);
    expect(await errorOf(shop.create())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: ID });
  });

  it('stays in doubt while its lookup fails, which is the cause', async () => {
    const shop = await openFailed({ creates: [trace(ID)], payments: { [ID]: 503 } });
    const inDoubt = { name: 'PaymentInDoubtError', paymentId: ID, cause: { status: 503 } };
    expect(await errorOf(shop.create())).toMatchObject(inDoubt);
  });

  it('stays in doubt if the store fails to settle it: the next create tries again', async () => {
    const shop = await openFailed({ creates: [trace(ID)], payments: { [ID]: recordOf(ID) } });
    const { replace } = shop.statements;
    const cause = new Error('read-only');
    shop.statements.replace = () => Promise.reject(cause);
    expect(await errorOf(shop.create())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: ID, cause });
    shop.statements.replace = replace;
    expect(await shop.create()).toMatchObject({ replayed: true, payment: { id: ID } });
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
    ['a refusal', refusal, recordOf(ID), { replayed: true }, ['settled']],
    ['an error', json('{}', 500), recordOf(ID), { replayed: true }, ['settled']],
    ['a lost connection', lost, recordOf(ID), { replayed: true }, ['settled']],
    ['a refusal with a failed payment', refusal, failed, { replayed: true }, ['settled']],
    ['a refusal, but differs', refusal, rounded, { name: 'PaymentInDoubtError' }, ['in_doubt']],
    ['a name that is not found, but differs', hostNotFound(), rounded, { name: 'PaymentInDoubtError' }, ['in_doubt']],
  ])('counts more than %s', async (_, answer, seen, expected, changes) => {
    const { id, paymentStatus } = seen;
    const creates = [() => answerAfter(shop.gateway, seen, answer)];
    const shop = open({ creates, payments: { [id]: seen } });
    const result = await shop.create().catch(error => error);
    const payment = result instanceof Error ? { paymentId: id } : { payment: { id, paymentStatus } };
    expect(result).toMatchObject({ ...expected, ...payment });
    expect(shop.changes()).toEqual(['begun', ...changes]);
  });
});

it('a reference that another request has taken before the answer does not answer for an unknown outcome', async () => {
  const taken = async () => {
    const { row } = await shop.statements.read(PAYOUT);
    const others = { attemptId: 'another', bodyHash: 'another', amount: '9', paymentId: OTHER_ID };
    const result = { payment: recordOf(OTHER_ID, { amount: 9 }) };
    if (row) await shop.statements.replace({ ...row, ...others, state: 'created', result }, row.revision);
    throw lost;
  };
  const shop = open({ creates: [taken] });
  expect(await errorOf(shop.create())).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
  expect(shop.changes()).toEqual(['begun', 'in_doubt']);
});

describe('a failed payment that a gateway keeps of a refused attempt', () => {
  const failed = recordOf(OTHER_ID, { paymentStatus: 'FAILED' });

  it('is not taken for that of the next attempt, whose answer is lost', async () => {
    const shop = await openFailed({
      creates: [refusal, () => answerAfter(shop.gateway, failed, lost)],
      payments: { [OTHER_ID]: failed, [ID]: recordOf(ID) },
    });
    expect(await errorOf(shop.create())).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
    expect(await errorOf(shop.create())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: OTHER_ID });
    await reconcile(shop.gateway, recordOf(ID));
    expect(await shop.create()).toMatchObject({ payment: { id: ID, paymentStatus: 'PENDING' } });
  });

  it('stands behind another payment of the reference that has not failed', async () => {
    const completed = recordOf(ID, { paymentStatus: 'COMPLETED' } as never);
    const third = recordOf(THIRD_ID, { paymentStatus: 'FAILED' });
    const shop = open({ creates: [created(OTHER_ID)], payments: { [ID]: completed, [THIRD_ID]: third } });
    await shop.create();
    for (const other of [third, completed]) await reconcile(shop.gateway, other);
    shop.payments[OTHER_ID] = failed;
    expect(await shop.create()).toMatchObject({ payment: { id: ID, paymentStatus: 'COMPLETED' } });
    await reconcile(shop.gateway, failed);
    expect(await shop.create()).toMatchObject({ payment: { id: ID, paymentStatus: 'COMPLETED' } });
  });
});

describe('a customer who comes back', () => {
  it('after a completed payment gets it without a lookup', async () => {
    const shop = open({ creates: [created(ID, { paymentStatus: 'COMPLETED' })] });
    await shop.create();
    expect(await shop.create()).toMatchObject({ replayed: true, stale: false, payment: { id: ID } });
    expect(shop.sent).toEqual(['POST']);
  });

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

  it('waits no longer than the time-out for a store that hangs after a lookup that hangs', async () => {
    const statements = { ...memoryCreates(), read: never };
    const shop = open({ creates: [created(ID)], payments: { [ID]: never }, statements });
    await shop.create();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    expect(await whileTimePasses(shop.create({ timeout: 100 }), 5)).toMatchObject({ stale: true });
  });
});

describe('a create that joins a running one', () => {
  /** A create whose answer comes when it is let go. */
  function held() {
    const answer = Promise.withResolvers<Response>();
    const arrived = Promise.withResolvers<AbortSignal>();
    const hold = ({ signal }: FetchInit) => {
      arrived.resolve(signal);
      return answer.promise;
    };
    return { ...open({ creates: [hold] }), answer, arrived: arrived.promise };
  }

  it("waits on after the first one's time-out", async () => {
    vi.useFakeTimers();
    const shop = held();
    const first = errorOf(shop.create({ timeout: 30 }));
    const second = shop.create({ timeout: 5_000 });
    const sent = await shop.arrived;
    await vi.advanceTimersByTimeAsync(30);
    expect(await first).toMatchObject({ name: 'ConnectionError', code: 'timeout', outcome: 'unknown' });
    expect(sent.aborted).toBe(false);
    shop.answer.resolve(created(ID));
    expect(await second).toMatchObject({ replayed: true, payment: { id: ID } });
    expect(shop.sent).toEqual(['POST']);
  });

  it('reports the timeout of the last one', async () => {
    vi.useFakeTimers();
    const shop = held();
    const ended = errorOf(shop.create({ timeout: 30 }));
    await shop.arrived;
    await vi.advanceTimersByTimeAsync(30);
    expect(await ended).toMatchObject({ name: 'ConnectionError', code: 'timeout', outcome: 'unknown' });
  });

  it('is given up when the last of them has left, and says what became of it', async () => {
    const shop = held();
    const [one, other] = [new AbortController(), new AbortController()];
    const first = errorOf(shop.create({ signal: one.signal }));
    const second = errorOf(shop.create({ signal: other.signal }));
    const sent = await shop.arrived;
    one.abort();
    await first;
    expect(sent.aborted).toBe(false);
    other.abort();
    expect(await second).toMatchObject({ name: 'ConnectionError', code: 'aborted', outcome: 'unknown' });
    expect(sent.aborted).toBe(true);
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
    expect(await shop.find()).toBeUndefined();
    await errorOf(shop.create());
    const asked = { scope: 'eu', reference: 'payout-1', paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' };
    const base = { ...asked, amount: '75', currency: 'EUR', since: expect.any(Date), conflictingIds: [] };
    shop.timePasses();
    expect(await shop.find()).toEqual({ ...base, state: 'begun', underWay: false });
    expect(await shop.gateway.doubts()).toEqual([{ ...base, underWay: false }]);
    await shop.settle('not_created');
    expect(await shop.find()).toEqual({ ...base, state: 'freed', underWay: false });
    await shop.create();
    const entry = await shop.find();
    expect(entry).toMatchObject({ ...base, state: 'created', underWay: false, paymentId: ID });
    expect(entry?.payment).toMatchObject({ id: ID, paymentStatus: 'PENDING' });
    expect(shop.changes()).toEqual(['begun', 'in_doubt', 'freed', 'begun', 'created']);
  });

  it.each([
    ['find', (gateway: GatewayClient, options: object) => gateway.find('payout-1', options)],
    ['inDoubt', (gateway: GatewayClient, options: object) => gateway.doubts(options)],
    ['settle', (gateway: GatewayClient, options: object) => gateway.settle('payout-1', 'not_created', options)],
  ])('%s ends at its time-out and at its signal', async (_, call) => {
    const shop = open({ creates: [lost], statements: { ...memoryCreates(), read: never, list: never } });
    for (const [code, limits] of [
      ['timeout', { timeout: 5 }],
      ['aborted', { signal: AbortSignal.timeout(5) }],
    ] as const)
      expect(await errorOf(call(shop.gateway, limits))).toMatchObject({ name: 'ConnectionError', code });
  });

  it('is not settled by a call that was stopped before it began', async () => {
    const shop = await openFailed({ creates: [lost] });
    shop.timePasses();
    const stopped = shop.gateway.settle('payout-1', 'not_created', { signal: AbortSignal.abort() });
    expect(await errorOf(stopped)).toMatchObject({ code: 'aborted' });
    expect(await shop.find()).toMatchObject({ state: 'begun' });
  });
});

it('a store keeps nothing of the customer, whatever happens', async () => {
  const customer = { firstName: 'secret', email: 'secret@customer.example', phone: '+48-secret', ipaddress: 'secret' };
  const billingAddress = { address1: 'Ulica-secret', city: 'Łódź-secret', countryCode: 'PL' };
  const own = { customer, billingAddress, description: 'for secret' };
  const additionalParameters = { iban: 'PL61-secret', destination_wallet: '0x-secret' };
  const request = { ...PAYOUT, ...own, additionalParameters, browser: { userAgent: 'secret' } } as const;
  const echoed = { ...own, errorMessage: 'secret', destination_wallet: 'secret', somethingNew: { name: 'secret' } };
  const full = (id: string, changes: object = {}) => recordOf(id, { ...echoed, ...changes });

  const written: string[] = [];
  const memory = memoryCreates({ settleMargin: 0 });
  const spying = (method: 'insert' | 'replace') =>
    (async (...args: never[]) => {
      written.push(JSON.stringify(args));
      return (memory[method] as (...args: never[]) => unknown)(...args);
    }) as never;
  const shop = open({
    statements: { ...memory, insert: spying('insert'), replace: spying('replace') },
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
  expect(await shop.find()).toMatchObject({ payment: { paymentStatus: 'AUTHORIZED', amount: 75 } });
});
