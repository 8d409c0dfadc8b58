// What the sandbox says of an option or a scenario that it cannot take.
import { ConfigurationError } from 'payment-gateway-sdk';
import { readScenario, Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { errorOf } from '../support/fixtures.ts';

afterEach(() => vi.unstubAllEnvs());

describe('an option of the sandbox', () => {
  const MS = 'must be a time such as 500ms, 5s, 2m, 1h or 7d, and at most 24 days';
  const KEY = 'must be a text that is not empty';

  it.each<[object, string]>([
    [{ apikey: 'x' }, 'unknown option "apikey" (did you mean "apiKey"?)'],
    ...['fetch', 'now', 'onEvent'].map(name => [{ [name]: 5 }, `${name} must be a function`] as [object, string]),
    [{ forwardTo: 'localhost:3000' }, 'forwardTo must be an absolute http(s) URL'],
    [{ apiKey: '' }, `apiKey ${KEY}`],
    [{ signKey: 5 }, `signKey ${KEY}`],
    [{ shopName: '' }, `shopName ${KEY}`],
    [{ latency: -1 }, `latency ${MS}`],
    [{ latency: 'soon' }, `latency ${MS}`],
    [{ latency: 2 ** 31 }, `latency ${MS}`],
    [{ callbackRetries: 5 }, 'callbackRetries must be a list of times'],
    [{ callbackRetries: [5, -1] }, MS],
    [{ callbackRetries: [2 ** 31] }, MS],
    [{ seed: 5 }, 'seed must be a string'],
    [{ saved: {} }, 'saved must be what sandbox.save() gave'],
    [{ signatureEncoding: 'HEX' }, "signatureEncoding must be 'hex' or 'base64'"],
    [{ terminal: 'crypto' }, "terminal must be 'standard' or 'onramp'"],
    [{ payid: 'card' }, "payid must be 'host-to-host' or 'redirect'"],
    [{ shape: 'round' }, "shape must be 'wrapped' or 'unwrapped'"],
  ])('%j is refused, and what it must be is said', (options, problem) => {
    expect(() => new Sandbox(options)).toThrow(ConfigurationError);
    expect(() => new Sandbox(options)).toThrow(new RegExp(`^Sandbox: .*${problem.replace(/[()?]/g, '\\$&')}`));
  });

  it('names the shop on the page of the customer, and has a name of its own for it', async () => {
    const pageOf = async (options: object) => {
      const sandbox = new Sandbox({ fetch: async () => new Response(), ...options });
      const { payment } = await sandbox.play({
        create: { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 5, currency: 'EUR' },
      });
      return (await sandbox.fetch(`http://sandbox.localhost/pay/${payment.id}`)).text();
    };
    expect(await pageOf({})).toContain('Your shop');
    expect(await pageOf({ shopName: 'The lamp shop' })).toContain('The lamp shop');
  });
});

describe('waitFor', () => {
  it.each<[object, string]>([
    [{ reference: 'order-1', isAnswered: 'yes' }, 'sandbox.waitFor: isAnswered must be true or false'],
    [{}, 'Say which payment to wait for: pass its id or reference.'],
  ])('with %j fails, and says why', async (what, problem) => {
    expect(((await errorOf(new Sandbox().waitFor(what))) as Error).message).toContain(problem);
  });

  it('that is out of time says what the payment and its latest callback are', async () => {
    let answer: Response | Error = new Error('nobody is there');
    const sandbox = new Sandbox({
      fetch: async () => {
        if (answer instanceof Error) throw answer;
        return answer;
      },
    });
    const create = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 5, currency: 'EUR' } as const;
    const { payment } = await sandbox.play({ create });
    const { id: paymentId } = payment;
    const late = async (what: object) =>
      ((await errorOf(sandbox.waitFor({ paymentId, timeout: 1, ...what }))) as Error).message;
    expect(await late({ paymentStatus: 'FAILED' })).toBe(
      `Not reached within 1 ms: payment ${paymentId} is PENDING, and it has no callback.`,
    );
    expect(await late({ reference: 'another' })).toContain('is PENDING');
    await sandbox.authorize(paymentId);
    await sandbox.idle();
    expect(await late({ isAnswered: true })).toContain('its latest callback was not answered (nobody is there).');
    answer = new Response(null, { status: 300 });
    await sandbox.redeliver(1);
    expect(await late({ isAnswered: true })).toContain('its latest callback was answered 300.');
    answer = new Response(null, { status: 299 });
    await sandbox.redeliver(1);
    expect(await sandbox.waitFor({ paymentId, isAnswered: true, timeout: 1 })).toMatchObject({ id: paymentId });
  });
});

describe('a scenario', () => {
  const create = 'create: {paymentType: DEPOSIT, paymentMethod: CARD, amount: 5, currency: EUR}';
  const STEP = 'must be an object with the fields fault, ms, count, move, ';
  const TIME = 'must be a time such as 500ms, 5s, 2m, 1h or 7d';

  it.each([
    ['stpes: []', 'unknown field "stpes" (did you mean "steps"?)'],
    ['steps: [{fault: slwo}]', 'steps[0].fault is an unknown fault "slwo" (did you mean "slow"?)'],
    ['steps: [{fault: callback-first}]', 'steps[0] callback-first is injected into the create: write it as'],
    ['steps: [{fault: drop, ms: 5ms}]', 'steps[0] ms is not for "fault: drop", which takes count'],
    ['steps: [{move: refund}]', 'move is an unknown move "refund"; there are: complete, authorize, cancel, fail'],
    ['steps: [{move: cancel, reason: x}]', 'steps[0] reason is not for "move: cancel", which takes force, expect'],
    ['steps: [{move: fail, raeson: x}]', 'steps[0] unknown field "raeson" (did you mean "reason"?)'],
    ['steps: [{mvoe: fail}]', 'steps[0] unknown field "mvoe" (did you mean "move"?)'],
    ['steps: [{fault: slow, move: fail}]', 'steps[0] must have one of fault, move, advance, redeliver, and only one'],
    ['steps: [{}]', 'steps[0] must have one of fault, move, advance, redeliver, and only one'],
    ['steps: [{move: cancel, expect: {callbacks: [maybe]}}]', 'callbacks[0] must be taken, refused, answered, not-'],
    ['steps: 5', 'steps must be a list of steps'],
    ['steps: [5]', `steps[0] ${STEP}`],
    ['steps: [null]', `steps[0] ${STEP}`],
    ['steps: [fault]', `steps[0] ${STEP}`],
    ['steps: [{fault: slow, ms: true}]', `steps[0].ms ${TIME}`],
    ['steps: [{fault: slow, ms: 25d}]', `steps[0].ms ${TIME}, and at most 24 days`],
    ['steps: [{advance: [5]}]', `steps[0].advance ${TIME}`],
    ['steps: [{fault: 5}]', 'steps[0].fault must be one of drop, reject-401, '],
    ['steps: [{move: [complete]}]', 'steps[0].move must be one of complete, authorize, cancel, fail'],
    ['steps: [{move: fail, code: true}]', 'steps[0].code must be a number or a string'],
    ['steps: [{move: complete, force: 1}]', 'steps[0].force must be true or false'],
    ['createFault: reference-trm', 'unknown fault of creates "reference-trm" (did you mean "reference-trim"?)'],
    ['createFault: explode', 'createFault is an unknown fault of creates "explode"; there are: callback-first, '],
    ['expect: taken', 'expect must be an object with the fields callbacks, paymentStatus'],
    ['expect: {callbacks: taken}', 'expect.callbacks must be a list, such as [taken]'],
    ['steps: [{move: cancel, expect: 200}]', 'steps[0].expect must be an object with the fields callbacks'],
  ])('with %s is refused at its line', async (text, problem) => {
    const error = (await errorOf(readScenario(`${create}\n${text}`))) as Error;
    expect(error.message).toMatch(/^Scenario: line 2: /);
    expect(error.message).toContain(problem);
  });

  it.each([
    ['5', 'Scenario: line 1: must be an object with the fields does, create, createFault, steps, expect.'],
    ['create: {amuont: 5}', 'line 1: create unknown field "amuont" (did you mean "amount"?)'],
    ['create: {reference: ""}', 'create.reference must not be empty: leave it out for another one each time'],
    ['craete: {}', 'line 1: create must be an object with the fields'],
    ['create: 5', 'create must be an object with the fields paymentType, paymentMethod, amount, currency'],
    ['create: {paymentType: DEPOSIT, amount: 5, currency: EUR}', 'must be a method of the gateway, such as CARD'],
    ['steps: [{mov: complete}]', '; line 1: '],
    ['a: &a [*a, *a]\nb: *c', 'Scenario: '],
  ])('of %j is refused', async (text, problem) => {
    expect(((await errorOf(readScenario(text))) as Error).message).toContain(problem);
  });

  it('whose aliases multiply without end is refused', async () => {
    const doubled = Array.from({ length: 12 }, (_, n) => `a${n}: &a${n} [${Array(9).fill(n ? `*a${n - 1}` : 'x')}]`);
    const error = (await errorOf(readScenario(doubled.join('\n')))) as Error;
    expect(error.message).toBe('Scenario: Excessive alias count indicates a resource exhaustion attack.');
  });

  it.each([
    ['a: "x', 'Scenario: line 1: Missing closing "quote.'],
    ['create: *known', 'Scenario: Unresolved alias (the anchor must be set before the alias): known.'],
  ])('that is no YAML is refused in one sentence: %s', async (text, message) => {
    expect(((await errorOf(readScenario(text))) as Error).message).toBe(message);
  });

  it('that is given as an object is refused by the path in it', async () => {
    const sandbox = new Sandbox();
    const refused = async (scenario: object) => ((await errorOf(sandbox.play(scenario as never))) as Error).message;
    expect(await refused({ create: 5 })).toMatch(/^Scenario: create must be an object with the fields/);
    expect(await refused({ create: {}, steps: [{ move: 'refund' }] })).toContain(
      '; steps[0].move is an unknown move "refund"; there are: ',
    );
    expect(await refused({})).toMatch(/^Scenario: create must be/);
  });
});
