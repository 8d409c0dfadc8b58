// A payment as a test: what is written compiles, and replays what happened.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayClient } from 'payment-gateway-sdk';
import type { Sandbox } from 'payment-gateway-sdk/sandbox';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rightServer, serverThat } from '../support/scenarios.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const parent = join(root, 'test/readme-examples');
let folder = '';
beforeAll(() => {
  mkdirSync(parent, { recursive: true });
  folder = mkdtempSync(join(parent, 'exported-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const exported = async (sandbox: Sandbox, id: string) =>
  (await sandbox.fetch(`http://sandbox.localhost/_sandbox/payments/${id}/test`)).text();

/** The scenario in an exported test, as it is written. */
const scenarioIn = (code: string) => code.slice(code.indexOf('create:'), code.indexOf('{ to:')).replace(/\s+/g, ' ');

const webhookUrl = 'https://shop.example/callbacks?token=secret-token';
const create = async ({ clientOptions }: Sandbox, request: object = {}) => {
  const gateway = new GatewayClient(clientOptions);
  const fields = { paymentMethod: 'CARD', amount: 25.5, currency: 'EUR', webhookUrl, ...request };
  return (await gateway.createDeposit(fields as never)).payment.id;
};

/** A payment to which nearly everything has happened. */
async function eventful() {
  const { sandbox, gateway } = rightServer({}, { apiKey: 'my-api-key', signKey: 'my-sign-key' });
  const id = await create(sandbox, {
    reference: 'order\'s \\ "1" \u2028 */',
    customer: { firstName: 'Zoë', lastName: null },
    additionalParameters: { __proto__: null, 'a-b': [1, true] },
  });
  sandbox.faults.next('callback-delay', { ms: 60_000 });
  await sandbox.authorize(id);
  sandbox.clock.advance(60_000);
  await sandbox.idle();
  sandbox.faults.next('callback-forge');
  sandbox.faults.next('commit-then-502', { on: 'lookup' });
  await sandbox.fail(id, { code: 4001 });
  await sandbox.idle();
  await sandbox.redeliver(1);
  await sandbox.redeliver(2, { body: 'not JSON' });
  await sandbox.complete(id, { force: true });
  await sandbox.idle();
  await gateway.getPayment(id);
  return { sandbox, id };
}

describe('a payment as a test', () => {
  it.each([
    ['', false],
    [', also within one millisecond', true],
  ])('has its request, its moves, its faults and its redeliveries, in their order%s', async (_, isFrozen) => {
    if (isFrozen) vi.useFakeTimers({ toFake: ['Date'] });
    const { sandbox, id } = await eventful();
    vi.useRealTimers();
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

  it('compiles, runs, and passes for a handler that is right', { timeout: 60_000 }, async () => {
    const { sandbox, id } = await eventful();
    const file = join(folder, 'eventful.test.ts');
    const code = await exported(sandbox, id);
    writeFileSync(file, code);
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const program = ts.createProgram([file, join(root, 'src/sandbox/raw-files.d.ts')], options);
    // That file alone: the source has its check already.
    const told = ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(one => ts.flattenDiagnosticMessageText(one.messageText, '\n'));
    expect(told).toEqual([]);
    const wrong = join(folder, 'wrong.test.ts');
    // The merchant's own handler, which believes everything.
    writeFileSync(
      wrong,
      code.replace(
        'createWebhookHandler({ gateway, onPayment: () => {} })',
        'async (_: Request) => void gateway ?? new Response()',
      ),
    );
    const config2 = join(folder, 'vitest.config.ts');
    writeFileSync(
      config2,
      `import base from '${join(root, 'vitest.config.ts')}';
export default { root: '${folder}', resolve: base.resolve, test: { css: true, include: ['*.test.ts'] } };`,
    );
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const args = [
      vitest,
      'run',
      '--config',
      config2,
      '--reporter',
      'json',
      '--outputFile',
      join(folder, 'report.json'),
    ];
    const { VITEST, NODE_OPTIONS, ...env } = process.env;
    spawnSync(process.execPath, args, { cwd: folder, env });
    const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
    const results = report.testResults.map(
      ({
        name,
        status,
        assertionResults: [result],
      }: {
        name: string;
        status: string;
        assertionResults: { failureMessages: string[] }[];
      }) => [name.split('/').at(-1), status, result?.failureMessages.join() ?? ''],
    );
    expect(results.sort()).toEqual([
      ['eventful.test.ts', 'passed', ''],
      ['wrong.test.ts', 'failed', expect.stringContaining('AssertionError: expected [ …(3) ] to deeply equal []')],
    ]);
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
