// What the commands ask of a running sandbox, and what they print: for people, and with --json.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Listening, Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { run as runCommand } from '../../src/sandbox/cli/program.ts';
import { LIBRARY } from '../../src/sandbox/scenarios/library.ts';

let answer = 200;
const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: answer }), seed: 'work' });
let server: Listening;
const folder = mkdtempSync(join(tmpdir(), 'sandbox-work-'));

beforeAll(async () => {
  server = await sandbox.listen();
});
beforeEach(() => {
  answer = 200;
  sandbox.reset();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command line. */
async function run(line: string) {
  const lines: string[] = [];
  for (const name of ['log', 'error'] as const) {
    vi.spyOn(console, name).mockImplementation(text => void lines.push(stripVTControlCharacters(text)));
  }
  const code = await runCommand([...line.split(' '), ...(/^scenarios/.test(line) ? [] : ['--url', server.url])]);
  vi.restoreAllMocks();
  return { code, out: lines.join('\n'), json: () => JSON.parse(lines.join('\n')) };
}

/** A command line that ends with an exit code, and one line. */
const refusalOf = async (line: string) => {
  const { code, out } = await run(line);
  return `${code} ${out.replace('payment-gateway-sandbox: ', '')}`;
};

const CREATE = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 25.5, currency: 'EUR' } as const;
const create = async (reference: string) => (await sandbox.play({ create: { ...CREATE, reference } })).payment;

it('lists payments, by state, reference and words', async () => {
  expect((await run('list')).out).toBe('No such payment.');
  const { id } = await create('order-1');
  await sandbox.complete((await create('order-2')).id);
  const { out, code } = await run('list');
  expect(code).toBe(0);
  expect(out).toMatch(
    new RegExp(`STATE +REFERENCE[\\s\\S]*COMPLETED +order-2 [\\s\\S]*PENDING +order-1 +25.5 EUR +CARD .* ${id}`),
  );
  for (const only of ['--status PENDING', '--reference order-1', '--search ER-1']) {
    expect((await run(`list ${only} --json`)).json()).toMatchObject({ total: 1, payments: [{ id }] });
  }
  expect((await run('list --limit 1')).out).toContain('2 in all: --limit shows more.');
});

it('shows a payment by its id or its reference, and moves it', async () => {
  const { id } = await create('order-1');
  expect(await run('authorize order-1')).toMatchObject({ code: 0, out: `AUTHORIZED  order-1  ${id}` });
  expect((await run(`fail ${id} --reason Unpaid --json`)).json()).toMatchObject({ errorMessage: 'Unpaid' });
  expect(await refusalOf('complete order-1')).toContain('is FAILED, which is final. To move it anyway: --force.');
  await run('complete order-1 --force');
  await run('cancel order-1 --force');
  await sandbox.idle();
  const { out } = await run('show order-1');
  for (const line of [
    'state         CANCELED',
    'asked for     DEPOSIT by CARD, 25.5 EUR',
    '201 POST',
    '200 callback FAILED',
  ]) {
    expect(out).toContain(line);
  }
  expect((await run(`show ${id} --json`)).json()).toMatchObject({ payment: { id }, timeline: expect.any(Array) });
  expect(await refusalOf('show order-9')).toContain('The sandbox has no payment order-9');
});

it('waits for a payment, and says what there is instead', async () => {
  const { id } = await create('order-1');
  const coming = run('wait --reference order-1 --status COMPLETED --answered');
  await sandbox.complete(id);
  expect(await coming).toMatchObject({ code: 0, out: `COMPLETED  order-1  ${id}` });
  expect(await refusalOf(`wait --id ${id} --status FAILED --timeout 5ms`)).toMatch(/^1 .* is COMPLETED/);
  expect(await refusalOf('wait')).toBe('2 Say which payment to wait for: pass --id or --reference.');
});

it('arms faults, lists them, and disarms one or all', async () => {
  const line = 'fault reject-429 --on lookup --count 3 --probability 0.5 --reference order-1';
  expect((await run(line)).out).toBe('armed: reject-429');
  await run('fault slow --ms 250ms');
  expect((await run('faults')).out).toBe(
    '  1  reject-429  on lookup  3 times, probability 0.5, reference order-1\n  2  slow        on create  250 ms',
  );
  expect((await run('faults --disarm 1 --json')).json()).toMatchObject({ faults: [{ id: 2, fault: 'slow', ms: 250 }] });
  expect(await refusalOf('faults --disarm first')).toContain('--disarm takes a number, and not "first".');
  expect(await refusalOf('faults --disarm 9')).toContain('No fault 9 is armed');
  expect((await run('faults --disarm all')).out).toBe('No fault is armed.');
  expect(await refusalOf('fault drop --ms 5')).toMatch(/^2 --ms is for slow and callback-delay, and not for drop\./);
  expect(await refusalOf('fault callback-lose --on lookup')).toMatch(/^2 --on is for faults of calls, and /);
  expect(await refusalOf('fault callback-first --on lookup')).toMatch(
    /^2 callback-first can only be injected into a create\./,
  );
});

it('posts a callback again, also with the body of a file', async () => {
  await sandbox.play('deposit-completed');
  expect(await run('redeliver 1')).toMatchObject({ code: 0, out: expect.stringContaining('again 1') });
  const file = join(folder, 'body.json');
  writeFileSync(file, '{"paymentStatus":"COMPLETED"}');
  answer = 400;
  const { code, json } = await run(`redeliver 1 --body ${file} --json`);
  expect([code, json()]).toEqual([
    1,
    expect.objectContaining({ body: '{"paymentStatus":"COMPLETED"}', isEdited: true }),
  ]);
  expect(await refusalOf('redeliver 1 --body nowhere.json')).toContain('nowhere.json cannot be read');
  expect(await refusalOf('redeliver 99')).toContain('The sandbox has made no delivery 99.');
});

it('moves the clock, and forgets everything', async () => {
  await create('order-1');
  expect((await run('clock --advance 5m --json')).json()).toMatchObject({ offset: 300_000 });
  expect((await run('clock --at 2031-01-01T00:00:00Z')).out).toMatch(/^2031-01-01T00:00:00\.\d+Z {2}moved by \d+ ms$/);
  expect(await refusalOf('clock --advance 1s --at 2031-01-01')).toContain('pass one');
  expect((await run('reset')).out).toBe('reset');
  expect([sandbox.payments, sandbox.clock.offset]).toEqual([[], 0]);
  expect((await run('clock --json')).json()).toMatchObject({ offset: 0 });
});

it('prints the latest calls and deliveries', async () => {
  await sandbox.play('deposit-authorized');
  sandbox.clock.advance(10);
  await sandbox.fetch(`${server.url}/api/v1/payments/x`);
  const { out } = await run('logs');
  expect(out.split('\n').map(line => line.slice(9, 30))).toEqual([
    '201 POST /api/v1/paym',
    '200 callback AUTHORIZ',
    '200 callback COMPLETE',
    '401 GET /api/v1/payme',
  ]);
  expect((await run('logs --limit 1 --json')).json()).toMatchObject({ type: 'request', status: 401 });
});

it('lists the scenarios, and prints one as the file that it is', async () => {
  expect((await run('scenarios')).out).toMatch(/^ {2}deposit-completed +A card deposit is paid\.$/m);
  expect((await run('scenarios callback-forged')).out).toBe(LIBRARY['callback-forged'].trimEnd());
  expect((await run('scenarios --json')).json()).toHaveLength(Object.keys(LIBRARY).length);
});
