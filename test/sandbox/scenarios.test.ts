// Scenarios: what their files may say, how they are played, and what is said of a server that answers otherwise.
import { readScenario, Sandbox, type Scenario } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { SCENARIOS, type ScenarioName } from '../../src/sandbox/scenarios/library.ts';
import { CREATE } from '../support/eventful.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';
import { rightServer, serverThat } from '../support/scenarios.ts';

const play = (sandbox: Sandbox, steps: Scenario['steps'], rest: Partial<Scenario> = {}) =>
  sandbox.play({ create: CREATE, steps, ...rest });

describe('the library', () => {
  it.each(SCENARIOS)('$name has nothing to say against the handler of the SDK', async ({ name }) => {
    fakeTimers();
    const { sandbox } = rightServer();
    const { problems, note, payment, deliveries } = await whileTimePasses(sandbox.play(name), 10);
    expect([problems, note]).toEqual([[], undefined]);
    expect(payment.reference).toMatch(new RegExp(`^${name}-[0-9a-f]{8}$`));
    expect(deliveries).toEqual(sandbox.deliveries);
    expect(deliveries.length).toBeGreaterThan(0);
    expect(sandbox.faults.armed).toEqual([]);
  });

  it.each(SCENARIOS)('$name begins with a sentence, and says what is expected', async ({ text }) => {
    const { does, steps = [], expect: expected } = await readScenario(text);
    expect(does).toMatch(/^(A|An) .*\.$/);
    expect(expected ?? steps.some(step => 'expect' in step && step.expect)).toBeTruthy();
  });

  it.each([
    [
      'callback-forged',
      /^steps\[1\] \(move: authorize\), callback 1 of 2 \(forged COMPLETED\): expected not-believed, but it was answered 200 "thanks", and the payment was not looked up before\. Look each payment up/,
    ],
    ['callback-not-json', /expected refused, but it was answered 200/],
    ['lookup-fails', /^steps\[0\] \(fault: commit-then-502\): your server has not looked the payment up\./],
  ] as [ScenarioName, RegExp][])('%s tells of a server that believes everything', async (name, told) => {
    const { problems } = await serverThat(() => 200).play(name);
    expect(problems).toEqual([expect.stringMatching(told)]);
  });

  it.each(SCENARIOS)('$name tells of a server that fails', async ({ name }) => {
    const { problems } = await serverThat(() => 500).play(name);
    expect(problems[0]).toMatch(name === 'lookup-fails' ? /redeliver: 1/ : /but it was answered 500 "thanks"/);
  });

  it('says which name was meant', async () => {
    await expect(new Sandbox().play('callback-forgd' as ScenarioName)).rejects.toMatchObject({
      code: 'unknown_scenario',
      message: 'unknown scenario "callback-forgd" (did you mean "callback-forged"?).',
    });
  });
});

describe('a forged callback', () => {
  it('may be answered 200 by a server that looks the payment up first, and not by one that does so afterwards', async () => {
    const lookUp = async (sandbox: Sandbox, body: unknown, apiKey = sandbox.clientOptions.apiKey) => {
      const { id } = JSON.parse(String(body));
      const headers = { authorization: `Bearer ${apiKey}` };
      await sandbox.fetch(`http://sandbox.localhost/api/v1/payments/${id}`, { headers });
    };
    const first: Sandbox = serverThat(async (_, { body }) => {
      await lookUp(first, body);
      return 200;
    });
    expect((await first.play('callback-forged')).problems).toEqual([]);
    const badKey: Sandbox = serverThat(async (_, { body }) => {
      await lookUp(badKey, body, 'wrong');
      return 200;
    });
    expect((await badKey.play('callback-forged')).problems).toHaveLength(1);
    let count = 0;
    const before: Sandbox = serverThat(async (_, { body }) => {
      count += 1;
      if (count === 1) await lookUp(before, body);
      return 200;
    });
    // The lookup of the first callback says nothing about the second.
    const steps = [{ move: 'authorize' }, { fault: 'callback-forge' }, { move: 'complete' }] as const;
    const { problems } = await play(before, [...steps]);
    expect(problems).toEqual([expect.stringContaining('callback 1 of 2 (forged COMPLETED): expected not-believed')]);
  });

  it('is one also when it is posted again, or when its body was changed by hand', async () => {
    const sandbox = serverThat(() => 200);
    const { problems } = await play(sandbox, [
      { move: 'complete' },
      { redeliver: 1, body: '{}' },
      { redeliver: 2 },
      { redeliver: 1 },
    ]);
    expect(problems.map(problem => problem.slice(0, 24))).toEqual([
      'steps[1] (redeliver: 1),',
      'steps[2] (redeliver: 2),',
    ]);
  });
});

describe('what is expected', () => {
  it.each([
    ['taken', 204, true],
    ['taken', 302, false],
    ['refused', 503, true],
    ['refused', 200, false],
    ['answered', 404, true],
    [503, 503, true],
    [503, 500, false],
    ['lost', 200, false],
  ] as const)('%s of an answer of %d: %j', async (wanted, status, isGood) => {
    const sandbox = new Sandbox({ fetch: async () => new Response(null, { status }) });
    const { problems } = await play(sandbox, [{ move: 'complete', expect: { callbacks: [wanted] } }]);
    expect(problems).toHaveLength(isGood ? 0 : 1);
  });

  it.each(['taken', 'refused', 'answered', 'not-believed'] as const)(
    '%s is not met by a server that is not there',
    async wanted => {
      const { problems } = await new Sandbox().play(
        { create: CREATE, steps: [{ move: 'complete', expect: { callbacks: [wanted] } }] },
        { to: 'http://127.0.0.1:1/' },
      );
      expect(problems).toEqual([
        expect.stringContaining('Is your server running, and is that the address of its callbacks?'),
      ]);
    },
  );

  it('is every callback taken, unless the scenario says otherwise; a list of all stands in for that', async () => {
    const sandbox = serverThat(() => 500);
    expect((await play(sandbox, [{ move: 'authorize' }, { move: 'complete' }])).problems).toHaveLength(2);
    const expected = { callbacks: ['refused', 500] as ['refused', 500] };
    expect((await play(sandbox, [{ move: 'authorize' }, { move: 'complete' }], { expect: expected })).problems).toEqual(
      [],
    );
  });

  it('counts the callbacks, and the state', async () => {
    const { problems } = await play(
      serverThat(() => 200),
      [{ move: 'authorize', expect: { callbacks: [], paymentStatus: 'COMPLETED' } }],
      { expect: { callbacks: ['taken', 'taken'], paymentStatus: 'FAILED' } },
    );
    expect(problems).toEqual([
      'steps[0] (move: authorize): expected [], but got [AUTHORIZED answered 200 "thanks"]. Expect one for each posted callback.',
      'steps[0] (move: authorize): expected the payment to be COMPLETED, and it is AUTHORIZED.',
      'expect: expected [taken, taken], but got [AUTHORIZED answered 200 "thanks"]. Expect one for each posted callback.',
      'expect: expected the payment to be FAILED, and it is AUTHORIZED.',
    ]);
  });

  it('is that each fault meets something, and that nothing waits at the end', async () => {
    const sandbox = serverThat(() => 200);
    const { problems } = await play(sandbox, [
      { fault: 'callback-delay', ms: '1h' },
      { move: 'authorize' },
      { fault: 'callback-lose' },
    ]);
    expect(problems).toEqual([
      'steps[2] (fault: callback-lose): no callback was posted after it. Write a fault before the move whose callback is to meet it.',
      'The callback of AUTHORIZED still waits at the end. Add a step: advance: with the time of its delay.',
    ]);
    expect(sandbox.faults.armed).toEqual([]);
  });
});

describe('a scenario', () => {
  it('is played with a signed create of every field, and meets no fault that is armed for the merchant', async () => {
    const sandbox = new Sandbox({
      signatureEncoding: 'base64',
      apiKey: 'k',
      signKey: 's',
      shape: 'unwrapped',
      fetch: async () => new Response(),
    });
    sandbox.faults.next('commit-then-502');
    const { payment } = await sandbox.play({
      create: {
        ...CREATE,
        reference: 'order-1',
        customer: { email: 'zoe@example.com' },
        billingAddress: { countryCode: 'PL' },
      },
    });
    expect(payment).toMatchObject({
      reference: 'order-1',
      customer: { email: 'zoe@example.com' },
      paymentStatus: 'PENDING',
    });
    expect(sandbox.faults.armed.map(({ fault }) => fault)).toEqual(['commit-then-502']);
    const headers = expect.arrayContaining([['content-type', 'application/json']]);
    expect(sandbox.calls).toMatchObject([{ method: 'POST', isPlayed: true, paymentId: payment.id, headers }]);
  });

  it('has faults of its own: of its create, which its payment alone meets', async () => {
    const { sandbox } = rightServer();
    const trimmed = await sandbox.play({
      create: { ...CREATE, reference: ' order-2 ' },
      createFault: 'reference-trim',
    });
    expect(trimmed.payment.reference).toBe('order-2');
    const rounded = await sandbox.play({ create: CREATE, createFault: 'amount-round' });
    expect(rounded.payment.amount).toBe(26);
  });

  it('goes where it is told, then where all callbacks go, then to its own address', async () => {
    const posted: string[] = [];
    const fetch = async (url: string) => {
      posted.push(url);
      return new Response();
    };
    // Written as a constant, which the compiler must take as well.
    const own = {
      create: { ...CREATE, webhookUrl: 'https://shop.example/own?a=1' },
      steps: [{ move: 'complete', expect: { callbacks: ['taken'] } }],
    } as const;
    await new Sandbox({ fetch, forwardTo: 'https://shop.example/all' }).play(own, { to: 'https://shop.example/told' });
    await new Sandbox({ fetch, forwardTo: 'https://shop.example/all' }).play(own);
    await new Sandbox({ fetch }).play(own);
    expect(posted).toEqual(['https://shop.example/told', 'https://shop.example/all', 'https://shop.example/own?a=1']);
    const first = new Sandbox({ fetch, forwardTo: 'https://shop.example/all' });
    await first.play('callback-first', { to: 'https://shop.example/told' });
    expect(posted[3]).toBe('https://shop.example/told');
  });

  it('posts to no real shop, not even where another address takes all callbacks', async () => {
    const sandbox = new Sandbox({ forwardTo: 'http://127.0.0.1:1/all' });
    const { deliveries } = await sandbox.play('deposit-completed', { to: 'https://shop.example/callbacks' });
    expect(deliveries).toMatchObject([{ error: expect.stringContaining('not on loopback') }]);
  });

  it('is played without callbacks if nobody says where they go, and says so', async () => {
    const { payment, problems, note, deliveries } = await new Sandbox().play('lookup-fails');
    expect([payment.paymentStatus, problems]).toEqual(['COMPLETED', []]);
    expect(note).toMatch(/^No callback was posted, so your server was not checked\. .*--to.*--forward-to\.$/);
    expect(deliveries.every(({ status }) => status === undefined)).toBe(true);
  });

  it.each([
    [{ ...CREATE, amount: 0 }, /The gateway refuses the create: .*amount:/],
    [{ ...CREATE, paymentMethod: 'SEPA' }, /paymentMethod: is not a method of this call/],
  ])('with the create %j is refused as the gateway refuses it', async (create, told) => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    await expect(sandbox.play({ create, createFault: 'callback-first' })).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(told),
    });
    expect(sandbox.faults.armed).toEqual([]);
  });

  it('ends with a reset', async () => {
    const sandbox: Sandbox = serverThat(() => {
      sandbox.reset();
      return 200;
    });
    await expect(play(sandbox, [{ move: 'complete' }])).rejects.toThrow(
      'The sandbox was reset while the scenario was played.',
    );
  });

  it('moves a final payment by force alone', async () => {
    const sandbox = serverThat(() => 200);
    await expect(play(sandbox, [{ move: 'complete' }, { move: 'cancel' }])).rejects.toMatchObject({
      code: 'final_state',
    });
    const { payment } = await play(sandbox, [{ move: 'complete' }, { move: 'fail', code: 4018, force: true }]);
    expect(payment).toMatchObject({ paymentStatus: 'FAILED', errorMessage: 'Canceled by the user' });
  });
});

describe('a file', () => {
  const file = `does: A story.
create:
  paymentType: DEPOSIT
  paymentMethod: CARD
  amount: 25.50
  currency: EUR
  reference: order-1
steps:
  - fault: slow # of the lookup
    ms: 5ms
  - move: fail
    reason: "Payment not funded"
    expect: { callbacks: [taken, 503] }
`;

  it('is YAML, or JSON', async () => {
    const scenario = {
      does: 'A story.',
      create: { ...CREATE, reference: 'order-1' },
      steps: [
        { fault: 'slow', ms: '5ms' },
        { move: 'fail', reason: 'Payment not funded', expect: { callbacks: ['taken', 503] } },
      ],
    };
    expect(await readScenario(file)).toEqual(scenario);
    expect(await readScenario(JSON.stringify(scenario, null, 2))).toEqual(scenario);
  });

  it('with mistakes is refused with the path to each at once', async () => {
    const wrong = file.replace('amount: 25.50', 'amount: much').replace('503]', 'maybe]');
    const { message, name } = await readScenario(wrong).catch(error => error);
    expect([name, message]).toEqual([
      'ConfigurationError',
      'Scenario: line 5: create.amount must be a number; line 13: steps[1].expect.callbacks[1] must be taken, refused, answered, not-believed, lost, or an HTTP status.',
    ]);
  });

  it.each(['', '- a', '3', '"x"', 'a: &a [*a, *a]'])('of %j is refused in a sentence', async text => {
    await expect(readScenario(text)).rejects.toThrow(/^Scenario: .*\.$/);
  });
});
