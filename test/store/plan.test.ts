// Planned payouts: written in the merchant's transaction, sent by upkeep alone, at most once.
import fc from 'fast-check';
import { GatewayClient, type GatewayEvent, memoryStore, type PayoutRequest } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ClientOptions, readClientOptions } from '../../src/client-options.ts';
import type { Fetch } from '../../src/http/own-fetch.ts';
import { type Created, create } from '../../src/payments/create.ts';
import { openGateway } from '../../src/payments/gateway.ts';
import { rawJSON } from '../../src/schemas/json.ts';
import type { CreateRow } from '../../src/store/rules/create-row.ts';
import { openPlan } from '../../src/store/rules/plan.ts';
import { NothingDone } from '../../src/telemetry/call.ts';
import { tries } from '../properties/arbitraries.ts';
import { type Creates, memoryCreates, reconcile, storeOf } from '../support/creates.ts';
import { errorOf, KEYS, mirrored, OTHER_ID, PAYOUT } from '../support/fixtures.ts';
import { json, wire } from '../support/wire.ts';

afterEach(() => void vi.useRealTimers());

const tx = { of: 'the merchant' };

interface Options extends Omit<ClientOptions, 'fetch' | 'store'> {
  statements?: Creates;
}

/** A shop that plans payouts, and sends one as upkeep does. */
function openPayouts(fetch: Fetch, { statements = memoryCreates({ scope: 'eu' }), ...given }: Options = {}) {
  const events: GatewayEvent[] = [];
  const onEvent = (event: GatewayEvent) => void events.push(event);
  const options = { ...KEYS, fetch, store: storeOf(statements), retries: 0, onEvent, ...given };
  const gateway = new GatewayClient(options);
  const upkeeping = openGateway(readClientOptions(options));
  const rowOf = async (reference = PAYOUT.reference) => (await statements.read({ reference })).row;
  return {
    statements,
    gateway,
    rowOf,
    plan: (changes: Partial<PayoutRequest> = {}, options?: { extra?: object }) =>
      gateway.payOut(tx, { ...PAYOUT, ...changes }, options),
    /** Sends a plan as upkeep claims it, or as it was claimed before. */
    send: async (claimed?: CreateRow): Promise<Created> => {
      const plan = claimed ?? ((await rowOf()) as CreateRow);
      const { request, extra } = openPlan(plan.body ?? '');
      return create(upkeeping, 'payment', request, { extra }, { plan });
    },
    stateOf: async (reference = PAYOUT.reference) => (await gateway.find(reference))?.state,
    changes: () => events.flatMap(event => (event.type === 'store' ? [event.change] : [])),
  };
}

/** A shop whose gateway accepts all payouts. */
const open = (options?: Options) => {
  const { fetch, sent } = wire(mirrored);
  return { ...openPayouts(fetch, options), sent };
};

describe('payOut', () => {
  it('plans a withdrawal, which is sent as it was planned, and kept whole only until then', async () => {
    const { plan, send, rowOf, changes, sent } = open();
    const customer = { firstName: 'Zoë', email: null, phone: undefined };
    const planned = await plan({ customer }, { extra: { loyalty: { points: 3 } } });
    expect([planned.state, planned.amount, planned.underWay, sent.length]).toEqual(['planned', '75', false, 0]);
    expect(JSON.stringify(await rowOf())).toContain('Zoë');
    await send();
    expect(sent[0]?.body).toBe(
      '{"paymentType":"WITHDRAWAL","paymentMethod":"SEPA","amount":75.00,"currency":"EUR","customer":{"firstName":"Zoë","email":null},"reference":"payout-1","webhookUrl":"https://shop.example/callbacks","loyalty":{"points":3}}',
    );
    expect([await rowOf(), changes()]).toEqual([expect.objectContaining({ state: 'created' }), ['begun', 'created']]);
    expect(JSON.stringify(await rowOf())).not.toContain('Zoë');
  });

  it("takes the client's webhookUrl, as a create does, also if that changes before it is sent", async () => {
    const statements = memoryCreates({ scope: 'eu' });
    const { webhookUrl: _, ...payout } = PAYOUT;
    await open({ statements, webhookUrl: 'https://shop.example/old' }).gateway.payOut(tx, payout);
    const { send, sent } = open({ statements, webhookUrl: 'https://shop.example/new' });
    await send();
    expect(JSON.parse(sent[0]?.body ?? '')).toHaveProperty('webhookUrl', 'https://shop.example/old');
    const without = open().gateway.payOut(tx, { ...payout, reference: 'payout-2' });
    expect(await errorOf(without)).toMatchObject({ name: 'InvalidRequestError', outcome: 'not_sent' });
  });

  it('gets the signed callback address of a create', async () => {
    const { plan, send, sent } = open({ signCallbackUrls: true });
    await plan();
    await send();
    expect(JSON.parse(sent[0]?.body ?? '').webhookUrl).toMatch(/^https:\/\/shop\.example\/callbacks\?.+=/);
  });

  it('changes nothing if the payout is planned or paid already, and refuses another request', async () => {
    const { plan, send, sent } = open();
    await plan();
    expect((await plan()).state).toBe('planned');
    const error = await errorOf(plan({ amount: '76.00' }));
    expect(error).toMatchObject({ name: 'DuplicateReferenceError', outcome: 'not_sent', differing: ['amount'] });
    expect(String(error)).toContain("To cancel it, call gateway.settle(reference, 'not_created')");
    await send();
    expect([(await plan()).state, sent.length]).toEqual(['created', 1]);
  });

  it.each<[string, object, object, string]>([
    ['without a reference', { reference: null }, {}, 'reference'],
    ['with a reference that no store keeps', { reference: 'x'.repeat(1_021) }, {}, 'reference'],
    ['with an amount that a create would refuse', { amount: '1e5' }, {}, 'amount'],
    ['for a deposit', { paymentType: 'DEPOSIT' }, {}, 'paymentType'],
    ['with a field in extra that belongs to the request', {}, { extra: { amount: 1 } }, 'extra.amount'],
    ['with an unknown option', {}, { terminal: 'onramp' }, 'options'],
  ])('writes nothing %s', async (_, changes, options, path) => {
    const { plan, stateOf } = open();
    const refused = { name: 'InvalidRequestError', outcome: 'not_sent', issues: [{ path }] };
    expect(await errorOf(plan(changes, options))).toMatchObject(refused);
    expect(await stateOf()).toBeUndefined();
  });

  it.each<[unknown, unknown, string]>([
    [undefined, PAYOUT, 'ConfigurationError'],
    [PAYOUT, tx, 'InvalidRequestError'],
    [PAYOUT, undefined, 'InvalidRequestError'],
  ])('refuses the transaction %j and the request %j', async (transaction, request, name) => {
    const failing = open().gateway.payOut(transaction as never, request as never);
    expect(await errorOf(failing)).toMatchObject({ name, outcome: 'not_sent' });
  });

  it('sends its one statement before it returns, in the transaction, and waits as long as that takes', async () => {
    vi.useFakeTimers();
    const written = Promise.withResolvers<void>();
    const store = memoryStore({ scope: 'eu' });
    const { write } = store;
    const asked = vi.spyOn(store, 'write').mockImplementation(async (...args) => {
      await written.promise;
      return write(...args);
    });
    const planning = new GatewayClient({ ...KEYS, fetch: wire(mirrored).fetch, store }).payOut(tx, PAYOUT);
    expect(asked.mock.calls).toEqual([[expect.objectContaining({ id: 'payout-1', state: 'planned' }), tx]]);
    await vi.advanceTimersByTimeAsync(3_600_000);
    written.resolve();
    expect((await planning).state).toBe('planned');
    expect(asked.mock.calls.filter(([row]) => row.kind === 'create')).toHaveLength(1);
  });

  it('is refused while a create of the reference runs or is in doubt, naming its payment', async () => {
    const answer = Promise.withResolvers<Response>();
    const { plan, gateway, stateOf } = openPayouts(wire(() => answer.promise).fetch);
    const creating = errorOf(gateway.createWithdrawal(PAYOUT));
    await vi.waitFor(async () => expect(await stateOf()).toBe('begun'), 60_000);
    expect(await errorOf(plan())).toMatchObject({ name: 'PaymentInDoubtError', outcome: 'unknown' });
    answer.resolve(json(JSON.stringify({ id: OTHER_ID }), 500));
    await creating;
    expect(await errorOf(plan())).toMatchObject({ name: 'PaymentInDoubtError', paymentId: OTHER_ID });
  });

  it('plans a refused payout again under its reference, with another amount', async () => {
    const { gateway, plan, send, stateOf } = openPayouts(wire(json('{}', 422), mirrored).fetch);
    await errorOf(gateway.createWithdrawal(PAYOUT));
    expect((await plan({ amount: '70.00' })).state).toBe('planned');
    await send();
    expect(await stateOf()).toBe('created');
  });
});

describe('a direct create of a planned reference', () => {
  it.each([
    ['the same request', {}, [], 'Reference "payout-1" is a planned payout.'],
    ['another request', { amount: '80' }, ['amount'], 'belongs to another request. Different: amount.'],
  ])('is refused for %s, and upkeep still sends the plan', async (_, changes, differing, message) => {
    const { gateway, plan, send, sent } = open();
    await plan();
    const error = await errorOf(gateway.createWithdrawal({ ...PAYOUT, ...changes }));
    expect(error).toMatchObject({ name: 'DuplicateReferenceError', outcome: 'not_sent', differing });
    for (const said of [message, 'The payout is planned, and upkeep sends it.']) expect(String(error)).toContain(said);
    expect(sent).toEqual([]);
    await send();
    expect(sent).toHaveLength(1);
  });

  it('is in doubt while upkeep sends it, and does not join that', async () => {
    const answer = Promise.withResolvers<void>();
    const { fetch, sent } = wire(init => answer.promise.then(() => mirrored(init)));
    const { gateway, plan, send } = openPayouts(fetch);
    await plan();
    const sending = send();
    await vi.waitFor(() => expect(sent).toHaveLength(1), 60_000);
    const running = { name: 'PaymentInDoubtError', underWay: true };
    expect(await errorOf(gateway.createWithdrawal(PAYOUT))).toMatchObject(running);
    answer.resolve();
    await sending;
    expect(await gateway.createWithdrawal(PAYOUT)).toHaveProperty('replayed', true);
    expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

describe('a plan that is sent', () => {
  it('is gone for upkeep if it was withdrawn, planned again or sent in between', async () => {
    const { gateway, plan, send, rowOf, sent } = open();
    await plan();
    const claimed = (await rowOf()) as CreateRow;
    await gateway.settle('payout-1', 'not_created');
    expect(await errorOf(send(claimed))).toBeInstanceOf(NothingDone);
    await plan();
    expect(await errorOf(send(claimed))).toBeInstanceOf(NothingDone);
    const again = (await rowOf()) as CreateRow;
    expect([again.body !== undefined, sent.length]).toEqual([true, 0]);
    await send(again);
    expect(await errorOf(send(again))).toBeInstanceOf(NothingDone);
    expect(sent).toHaveLength(1);
  });

  it('is the request that was planned, for any request and extra', { tags: 'long' }, async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 });
    const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined));
    const fields = fc.dictionary(
      fc.stringMatching(/^[a-z]{3,8}$/),
      fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
    );
    const amount = fc.oneof(
      fc.constantFrom<string>('25.50', '1', '0.10', '120.00', '1234567890123.12'),
      fc.integer({ min: 1, max: 1e9 }).map(cents => cents / 100),
    );
    const request = fc.record({ amount, additionalParameters: fields, description: fc.oneof(text, fc.constant(null)) });
    const { fetch, sent } = wire(json('{}', 422));
    await fc.assert(
      fc.asyncProperty(request, fields, async (changes, given) => {
        const [planned, direct] = [openPayouts(fetch), openPayouts(fetch)];
        const extra = Object.fromEntries(Object.entries(given).map(([name, value]) => [`x_${name}`, value]));
        await planned.plan(changes, { extra });
        expect(await errorOf(planned.send())).toMatchObject({ status: 422 });
        await errorOf(direct.gateway.createWithdrawal({ ...PAYOUT, ...changes }, { extra }));
        const [byPlan, byCreate] = sent.splice(0);
        expect(JSON.parse(byPlan?.body ?? '')).toEqual(JSON.parse(byCreate?.body ?? ''));
        expect((await planned.rowOf())?.bodyHash).toBe((await direct.rowOf())?.bodyHash);
      }),
      tries(20),
    );
  });

  it('keeps every digit, and every name, of extra', async () => {
    const { plan, send, sent } = open({ signCallbackUrls: true });
    const extra = JSON.parse('{"__proto__":{"a":1}}');
    Object.assign(extra, { digits: rawJSON('12345678901234567890.12'), tenth: [rawJSON('0.10'), 1e21, -0.5] });
    await plan({}, { extra });
    await send();
    expect(sent[0]?.body).toContain('"__proto__":{"a":1},"digits":12345678901234567890.12,"tenth":[0.10,1e+21,-0.5]}');
  });
});

describe('a plan that an operator or a callback finds', () => {
  it('is not a doubt, and is not paid again if its payment was made without the store', async () => {
    const sandbox = new Sandbox();
    const { payment } = await new GatewayClient(sandbox.clientOptions).createWithdrawal(PAYOUT);
    const { gateway, plan, stateOf } = openPayouts(sandbox.fetch, sandbox.clientOptions);
    await plan();
    expect(await gateway.doubts()).toEqual([]);
    await expect(gateway.settle('payout-1', payment.id)).rejects.toThrow("settle it with 'not_created'");
    await reconcile(gateway, await gateway.getPayment(payment.id));
    expect(await stateOf()).toBe('created');
    expect((await gateway.createWithdrawal(PAYOUT)).replayed).toBe(true);
  });
});
