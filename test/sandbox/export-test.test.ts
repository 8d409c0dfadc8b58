// A payment as a test: what is written of it.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { create, eventful, exported } from '../support/eventful.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { rightServer, serverThat } from '../support/scenarios.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The scenario in an exported test, as it is written. */
const scenarioIn = (code: string) => code.slice(code.indexOf('create:'), code.indexOf('{ to:')).replace(/\s+/g, ' ');

describe('a payment as a test', () => {
  it.each([
    ['', false],
    [', also within one millisecond', true],
  ])('has its request, its moves, its faults and its redeliveries, in their order%s', async (_, isFrozen) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    if (isFrozen) vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000);
    const { sandbox, id } = await whileTimePasses(eventful(), 100);
    const code = await exported(sandbox, id);
    const steps = /steps: \[([\s\S]*)\n? *\],? *\n? *expect: \{/.exec(code)?.[1]?.replace(/\s+/g, ' ').trim();
    expect(steps).toBe(
      [
        "{ fault: 'callback-delay', ms: 60000 },",
        "{ move: 'authorize' },",
        '{ advance: 60000 },',
        "{ fault: 'callback-forge' },",
        "{ fault: 'commit-then-502' },",
        "{ move: 'fail', reason: 'CVV error' },",
        '{ redeliver: 1 },',
        "{ redeliver: 2, body: 'not JSON' },",
        "{ move: 'complete', force: true },",
      ].join(' '),
    );
    expect(code).not.toMatch(/my-api-key|my-sign-key|secret-token/);
    expect(code).toContain("{ to: 'https://shop.example/callbacks' }");
  });

  it('keeps what its terminal is, and leaves out what it has not', async () => {
    const { sandbox } = rightServer({}, { terminal: 'onramp', payid: 'redirect' } as never);
    const id = await create(sandbox, { paymentMethod: 'ONRAMP_PIX', reference: null, description: null });
    const code = await exported(sandbox, id);
    expect(code).toContain(
      "const sandbox: Sandbox<'onramp'> = new Sandbox({ terminal: 'onramp', payid: 'redirect', fetch:",
    );
    expect(code).toContain('// It had none.');
    expect(scenarioIn(code)).not.toContain('reference');
  });

  it.each([
    ['callback-first', "createFault: 'callback-first', steps: [],"],
    ['callback-reordered', "steps: [{ fault: 'callback-reorder' }, { move: 'authorize' }, { move: 'complete' }],"],
    ['callback-lost', "steps: [{ fault: 'callback-lose' }, { move: 'complete' }, { redeliver: 1 }],"],
    ['callback-duplicated', "steps: [{ fault: 'callback-duplicate' }, { move: 'complete' }],"],
  ] as const)('of %s is that scenario again', async (name, written) => {
    const sandbox = serverThat(() => 200);
    const { payment } = await sandbox.play(name);
    expect(scenarioIn(await exported(sandbox, payment.id))).toContain(written);
  });
});
