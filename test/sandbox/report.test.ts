// The report card of a merchant's server: from the command, the API and the dashboard, and never good without a check.
import { stripVTControlCharacters } from 'node:util';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { run } from '../../src/sandbox/cli/program.ts';
import { SCENARIOS } from '../../src/sandbox/scenarios/library.ts';
import { rightServer, serverThat } from '../support/scenarios.ts';

const NOWHERE = 'http://127.0.0.1:1/callbacks';
let printed: string[];
beforeEach(() => {
  printed = [];
  vi.spyOn(console, 'log').mockImplementation(line => void printed.push(stripVTControlCharacters(String(line))));
});
afterEach(() => vi.restoreAllMocks());

/** Runs the command against a sandbox. */
async function test(sandbox: Sandbox, ...args: string[]) {
  const { url, close } = await sandbox.listen();
  onTestFinished(close);
  const code = await run(['test', '--url', url, ...args]);
  return { code, lines: printed.join('\n').split('\n') };
}

/** The SDK's handler answers a failed lookup after pauses. A lookup by hand in the first callback has none. */
const lookingUp = () => {
  const sandbox: Sandbox = new Sandbox({
    fetch: async (_, { body }) => {
      const read = /^\{/.test(String(body)) ? JSON.parse(String(body)) : undefined;
      if (!read) return new Response(null, { status: 400 });
      const headers = { authorization: `Bearer ${sandbox.clientOptions.apiKey}` };
      await sandbox.fetch(`http://sandbox.localhost/api/v1/payments/${read.id}`, { headers });
      return new Response(null, { status: 200 });
    },
  });
  return sandbox;
};

describe('the command', { tags: 'long' }, () => {
  it('passes a server that looks payments up, and ends with 0', async () => {
    const { code, lines } = await test(lookingUp());
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/^ {2}passed +deposit-completed +A card deposit is paid\.$/);
    expect(lines).toHaveLength(SCENARIOS.length + 1);
    expect(lines.at(-1)).toBe(`passed: 0 failed, 0 unchecked, ${SCENARIOS.length} passed`);
  });

  it('passes the handler of the SDK', async () => {
    expect((await test(rightServer().sandbox)).code).toBe(0);
  });

  it('fails a server that believes everything, says why below the scenario, and ends with 1', async () => {
    const { code, lines } = await test(serverThat(() => 200));
    const at = lines.findIndex(line => line.startsWith('  failed     callback-forged'));
    expect([code, lines[at + 1]]).toEqual([
      1,
      expect.stringMatching(/^ {13}steps\[1\] \(move: authorize\), callback 1 of 2 .*: expected not-believed/),
    ]);
    expect(lines.at(-1)).toBe(`failed: 3 failed, 0 unchecked, ${SCENARIOS.length - 3} passed`);
  });

  it.each([
    ['nobody says where callbacks go', [], /No callback was posted/],
    ['no server answers', ['--to', NOWHERE], /Is your server running/],
  ])('ends with 2 after the first scenario if %s', async (_, args, problem) => {
    const { code, lines } = await test(new Sandbox(), ...args);
    expect([code, lines]).toEqual([
      2,
      [
        expect.stringMatching(/^ {2}unchecked {2}deposit-completed /),
        expect.stringMatching(problem),
        'unchecked: 0 failed, 1 unchecked, 0 passed',
      ],
    ]);
  });

  it('ends with 2 if the server goes away in the middle', async () => {
    let callbacks = 0;
    const sandbox = new Sandbox({
      fetch: async () => {
        callbacks += 1;
        if (callbacks > 1) throw new Error('connect ECONNREFUSED');
        return new Response();
      },
    });
    const { code, lines } = await test(sandbox, '--json');
    const { result, scenarios } = JSON.parse(lines.join('\n'));
    expect([code, result]).toEqual([2, 'unchecked']);
    expect(scenarios).toMatchObject([
      { name: 'deposit-completed', result: 'passed', problems: [] },
      {
        result: 'unchecked',
        problems: expect.arrayContaining([expect.stringContaining('Is your server running')]),
        paymentId: sandbox.payments[1]?.id,
      },
    ]);
  });
});

describe('the button', { tags: 'long' }, () => {
  const press = async (sandbox: Sandbox) => {
    const body = new URLSearchParams({ name: 'deposit-completed', to: NOWHERE });
    const { headers } = await sandbox.fetch('http://sandbox.localhost/report', { method: 'POST', body });
    return (await sandbox.fetch(`http://sandbox.localhost${headers.get('location')}`)).text();
  };

  it('shows the card in the colour of its result, with the payment of each scenario', async () => {
    const passed = await press(lookingUp());
    expect(passed).toContain('<h1>Your server <span class="pill good">passed</span></h1>');
    const believing = serverThat(() => 200);
    const failed = await press(believing);
    expect(failed).toContain('<h1>Your server <span class="pill bad">failed</span></h1>');
    expect(failed.indexOf('callback-forged</a>')).toBeLessThan(failed.indexOf('deposit-completed</a>'));
    expect(failed).toContain(`<a href="/payments/${believing.payments[0]?.id}">deposit-completed</a>`);
    expect(failed).toContain('expected not-believed, but it was answered 200');
    expect(await press(new Sandbox())).toContain('<h1>Your server <span class="pill wait">unchecked</span></h1>');
  });
});

it('a story that did not go as expected is no good news', async () => {
  const sandbox = serverThat(() => 500);
  const body = new URLSearchParams({ name: 'deposit-completed' });
  const { headers } = await sandbox.fetch('http://sandbox.localhost/play', {
    method: 'POST',
    body,
  });
  const page = await sandbox.fetch(`http://sandbox.localhost${headers.get('location')}`);
  expect(await page.text()).toContain('<span class="pill bad">not as expected</span>');
});
