// The command line as a user runs it: real processes, real ports.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { FROM_SOURCE } from '../support/processes.ts';

const cli = fileURLToPath(new URL('../../src/sandbox/cli/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sandbox-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Vitest asks its children for colours. */
const { FORCE_COLOR, ...environment } = process.env;

const start = (args: string[], env: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [...FROM_SOURCE, cli, ...args], {
    env: { ...environment, NODE_ENV: '', ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
};

/** Runs it to its end. */
async function run(args: string[], { env, input }: { env?: Record<string, string>; input?: string } = {}) {
  const child = start(args, env);
  child.stdin.end(input);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { out, err, code };
}

/** What a process has printed. */
function watch(child: ChildProcessWithoutNullStreams) {
  let printed = '';
  child.stdout.on('data', chunk => {
    printed += chunk;
  });
  return async (what: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = what.exec(printed);
      if (found) return found;
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    }
  };
}

/** A running sandbox. */
async function serve(...args: string[]) {
  const child = start(['--port', '0', ...args]);
  const shows = watch(child);
  const [, url = ''] = await shows(/PAYMENT_GATEWAY_URL=(\S+)\n[\s\S]*SIGN_KEY=\S+\n/);
  return { child, url, port: new URL(url).port, shows };
}

const clientOf = (url: string) => {
  const { apiKey, signKey } = new Sandbox().clientOptions;
  return new GatewayClient({ baseUrl: url, apiKey, signKey });
};

const CARD = { paymentMethod: 'CARD', amount: 5, currency: 'EUR' } as const;

describe('payment-gateway-sandbox', { timeout: 30_000 }, () => {
  it('prints into head', () => {
    const command = [process.execPath, ...FROM_SOURCE, cli, 'help'].map(part => `'${part}'`).join(' ');
    const options = { encoding: 'utf8', env: { ...environment, NODE_ENV: '' } } as const;
    const { stdout, stderr, status } = spawnSync(
      'bash',
      ['--norc', '-o', 'pipefail', '-c', `${command} | head -n 1`],
      options,
    );
    const first = 'Usage: payment-gateway-sandbox [options] [command]\n';
    expect([stdout, stderr, status]).toEqual([first, '', 0]);
  });

  it('ends quietly when its reader goes away', async () => {
    const child = start(['--port', '0', '--json']);
    const stderr = text(child.stderr);
    const [, url = ''] = await watch(child)(/^\{"type":"listening","url":"(.*)"\}\n/);
    child.stdout.destroy();
    const exit = once(child, 'exit');
    // Something to print.
    await fetch(`${url}/api/v1/payments/x`).catch(() => {});
    expect([await exit, await stderr]).toEqual([[0, null], '']);
  });

  it.each([
    [['--prot', '1'], {}, "payment-gateway-sandbox: unknown option '--prot' (Did you mean --port?)\n"],
    [[], { NODE_ENV: 'production' }, 'The sandbox does not start under NODE_ENV=production'],
  ])('ends with one line and exit code 2 for %j %j', async (args, env, told) => {
    const { code, out, err } = await run(args, { env });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(told);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});

describe('--state', { timeout: 30_000 }, () => {
  const file = join(folder, 'state.json');
  const saved = () => JSON.parse(readFileSync(file, 'utf8'));

  it('survives a restart and a kill: payments, callbacks, faults and the clock', async () => {
    rmSync(file, { force: true });
    const first = await serve('--state', file);
    await first.shows(/Everything is kept in {2}.*state\.json \(0 payments\)/);
    const create = { ...CARD, webhookUrl: 'http://127.0.0.1:1/' } as const;
    const { payment } = await clientOf(first.url).createDeposit({ ...create, reference: 'order-1' });
    await run(['fault', 'reject-422', '--count', '2', '--port', first.port]);
    await run(['clock', '--advance', '1h', '--port', first.port]);
    await expect.poll(() => saved().clockOffset).toBe(3_600_000);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');

    const second = await serve('--state', file);
    await second.shows(/\(1 payments\)/);
    expect(await clientOf(second.url).getPayment(payment.id)).toMatchObject({ reference: 'order-1' });
    await expect(clientOf(second.url).createDeposit(create)).rejects.toMatchObject({ status: 422 });
    const done = await run(['complete', 'order-1', '--port', second.port]);
    expect(done.code).toBe(0);
    // At its end, at once.
    second.child.kill('SIGTERM');
    expect(await once(second.child, 'exit')).toEqual([0, null]);
    expect(saved()).toMatchObject({ payments: [{ record: { paymentStatus: 'COMPLETED' } }], faults: [{ count: 1 }] });
    expect(readdirSync(folder).filter(name => name.startsWith('state.json'))).toEqual(['state.json']);
  });
});
