// The command line as a user runs it: real processes, real ports.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createWebhookHandler, GatewayClient, toNodeHandler } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { FROM_SOURCE } from '../support/processes.ts';
import { openShop, type Shop } from '../support/shop.ts';

const cli = fileURLToPath(new URL('../../src/sandbox/cli/main.ts', import.meta.url));
const started: ChildProcessWithoutNullStreams[] = [];
const folder = mkdtempSync(join(tmpdir(), 'sandbox-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Vitest asks its children for colours. */
const { FORCE_COLOR, ...environment } = process.env;

const start = (args: string[], env: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [...FROM_SOURCE, cli, ...args], {
    env: { ...environment, NODE_ENV: '', ...env },
  });
  started.push(child);
  return child;
};
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

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

/** The status of a call by another name. */
const statusAs = (host: string, hostname: string, port: string) =>
  new Promise<number>((resolve, reject) => {
    httpRequest({ hostname, port, path: '/_sandbox/info', headers: { host } }, response => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });

/** A merchant whose callbacks the SDK's handler takes, over HTTP. */
async function openMerchant(gatewayUrl: string): Promise<Pick<Shop, 'url' | 'close'>> {
  const handler = createWebhookHandler({ gateway: clientOf(gatewayUrl), onPayment: () => {}, onError: () => {} });
  const server = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

const CARD = { paymentMethod: 'CARD', amount: 5, currency: 'EUR' } as const;

describe('payment-gateway-sandbox', { timeout: 30_000 }, () => {
  it('prints the environment that leads a client to it, and a line for each call and callback', async () => {
    const shop = await openShop();
    const { url, shows, child } = await serve(
      '--forward-to',
      `${shop.url}/webhooks`,
      '--api-key',
      'k',
      '--sign-key',
      's',
    );
    await shows(/PAYMENT_GATEWAY_API_KEY=k\n\s+PAYMENT_GATEWAY_SIGN_KEY=s\n/);
    const gateway = new GatewayClient({ baseUrl: url, apiKey: 'k', signKey: 's' });
    const { payment, nextAction } = await gateway.createDeposit({
      ...CARD,
      reference: 'order-1',
      webhookUrl: 'https://shop.example/callbacks',
    });
    if (nextAction.type !== 'redirect') throw new Error('no redirect');
    expect(new URL(nextAction.redirectUrl).origin).toBe(url);
    await fetch(nextAction.redirectUrl, {
      method: 'POST',
      body: new URLSearchParams({ act: 'pay' }),
      redirect: 'manual',
    });
    await shows(new RegExp(`201 POST /api/v1/payments {2}${payment.id} {2}\\d+ ms\\n`));
    await shows(new RegExp(`COMPLETED {2}order-1 {2}${payment.id}\\n`));
    await shows(new RegExp(`200 callback COMPLETED → ${shop.url}/webhooks {2}\\d+ ms {2}delivery 1\\n`));
    expect(shop.posts).toHaveLength(1);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await shop.close();
  });

  it('moves each new payment by itself with --auto, but for those of scenarios, and says what a client must be told', async () => {
    const { url, port, shows } = await serve(
      '--auto',
      'authorize:10ms',
      '--auto',
      'complete:50ms',
      '--signature-encoding',
      'base64',
      '--terminal',
      'onramp',
    );
    await shows(/new GatewayClient\(\{ signatureEncoding: 'base64', terminal: 'onramp' \}\)/);
    const file = join(folder, 'created.json');
    writeFileSync(file, '{"create":{"paymentType":"DEPOSIT","paymentMethod":"CARD","amount":1,"currency":"EUR"}}');
    const played = JSON.parse((await run(['trigger', file, '--json', '--port', port])).out);
    const { apiKey, signKey } = new Sandbox().clientOptions;
    const gateway = new GatewayClient({
      baseUrl: url,
      apiKey,
      signKey,
      signatureEncoding: 'base64',
      terminal: 'onramp',
    });
    const { payment } = await gateway.createDeposit({
      paymentMethod: 'ONRAMP_PIX',
      amount: 5,
      currency: 'BRL',
      webhookUrl: 'https://shop.example/callbacks',
    });
    expect(await gateway.waitForPayment(payment.id, { timeout: 5_000 })).toMatchObject({
      paymentStatus: 'COMPLETED',
    });
    await shows(/AUTHORIZED[\s\S]*COMPLETED/);
    await shows(
      /--- callback COMPLETED → https:\/\/shop\.example\/callbacks {2}not posted: the address is not on loopback/,
    );
    // Made before the other, which was moved twice since.
    expect(await gateway.getPayment(played.payment.id)).toMatchObject({ paymentStatus: 'PENDING' });
  });

  it('waits longer, calls back again, and answers to other names, as it is told', async () => {
    const shop = await openShop(count => (count < 3 ? 500 : 200));
    const options = ['--callback-retries', '10ms,20ms', '--latency', '60ms', '--host', '0.0.0.0', '--seed', 'a'];
    const child = start(['--port', '0', '--json', '--allow-host', 'sandbox', '--forward-to', shop.url, ...options]);
    const shows = watch(child);
    const [, url = ''] = await shows(/^\{"type":"listening","url":"(.*)"\}\n/);
    const { payment } = await clientOf(url).createDeposit({ ...CARD, webhookUrl: 'https://shop.example/' });
    // printf 'a 1' | sha256sum, shaped as a UUID
    expect(payment.id).toBe('042a5f2e-7634-44c8-8a75-691b6b89dfe4');
    const [, durationMs] = await shows(/"durationMs":([\d.]+)/);
    expect(Number(durationMs)).toBeGreaterThan(50);
    const { hostname, port } = new URL(url);
    expect([await statusAs('sandbox:1', hostname, port), await statusAs('other', hostname, port)]).toEqual([200, 403]);
    await run(['complete', payment.id, '--port', port]);
    const waited = await run(['wait', '--id', payment.id, '--answered', '--port', port, '--timeout', '10s']);
    expect([waited.code, shop.posts.length]).toEqual([0, 3]);
    await shop.close();
  });

  it('plays a scenario, and says with its exit code whether the server is right', async () => {
    const sandbox = new Sandbox();
    const { url, close } = await sandbox.listen();
    const { port } = new URL(url);
    const right = await openMerchant(url);
    const wrong = await openShop();
    const good = await run(['trigger', 'callback-forged', '--port', port, '--to', right.url]);
    expect(good).toMatchObject({ code: 0, err: '' });
    expect(good.out).toMatch(
      /^AUTHORIZED {2}callback-forged-\w+ .*\n503 callback COMPLETED .* fault: callback-forge {2}delivery 1\n200 /,
    );
    const bad = await run(['trigger', 'callback-forged', '--port', port, '--to', wrong.url]);
    expect([bad.code, bad.out]).toEqual([
      1,
      expect.stringContaining(
        'Not as expected: steps[1] (move: authorize), callback 1 of 2 (forged COMPLETED): expected not-believed',
      ),
    ]);
    // As the hint of the dashboard has it.
    const nowhere = await run(['trigger', 'deposit-completed', '--port', port]);
    expect([nowhere.code, nowhere.out]).toEqual([
      0,
      expect.stringMatching(/^COMPLETED .*\nNobody was called back, so nothing was checked/),
    ]);
    const own = await run(['trigger', '-', '--url', url, '--to', right.url], {
      input:
        'create: { paymentType: WITHDRAWAL, paymentMethod: SEPA, amount: 5, currency: EUR }\nsteps:\n  - mvoe: complete\n',
    });
    expect([own.code, own.err]).toEqual([
      2,
      'payment-gateway-sandbox: Scenario: line 3: steps[0] must have one of fault, move, advance, redeliver, and only one.\n',
    ]);
    await Promise.all([close(), right.close(), wrong.close()]);
  });

  it('prints what happened, and follows what happens, until the sandbox ends', async () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const { url, close } = await sandbox.listen();
    const { payment } = await sandbox.play('deposit-completed');
    const child = start(['logs', '--follow', '--json', '--url', url]);
    const lines = text(child.stdout);
    const shows = watch(child);
    await shows(/"type":"callback"/);
    await sandbox.cancel(payment.id, { force: true });
    await shows(/"paymentStatus":"CANCELED"[\s\S]*"type":"callback"/);
    await close();
    const types = (await lines)
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).type);
    expect(types).toEqual(['request', 'callback', 'move', 'callback']);
    expect(await once(child, 'exit').catch(() => [child.exitCode])).toEqual([0, null]);
  });

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
    [['--sign-key', ''], {}, "option '--sign-key <key>' argument '' is invalid. It must not be empty.\n"],
    [[], { NODE_ENV: 'production' }, 'The sandbox does not start under NODE_ENV=production'],
    [['trigger', 'deposit-completed', '--port', '1'], {}, 'No sandbox answers at http://127.0.0.1:1. Start one:'],
    [
      ['list', '--port', '1', '--url', 'http://127.0.0.1:1'],
      {},
      "option '--url <url>' cannot be used with option '--port <number>'",
    ],
    [['trigger', 'nowhere.yaml'], {}, 'nowhere.yaml cannot be read: ENOENT'],
    [['--host', '203.0.113.7', '--port', '0'], {}, '--host: this machine has no address 203.0.113.7.'],
    [['--state', '/nowhere/at/all.json', '--port', '0'], {}, '--state: /nowhere/at/all.json cannot be written: ENOENT'],
  ])('ends with one line and exit code 2 for %j %j', async (args, env, told) => {
    const { code, out, err } = await run(args, { env });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(told);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  it('says that its port is busy, in one line, with exit code 2', async () => {
    const other = await new Sandbox().listen();
    const { port } = new URL(other.url);
    const { code, err } = await run(['--port', port]);
    expect([code, err]).toEqual([
      2,
      `payment-gateway-sandbox: Port ${port} is in use, perhaps by another sandbox. --port 0 picks a free one.\n`,
    ]);
    await other.close();
  });

  it('asks no server that is not a sandbox', async () => {
    const shop = await openShop();
    const { code, err } = await run(['reset', '--url', shop.url]);
    expect([code, err]).toEqual([2, expect.stringContaining(`The server at ${shop.url} is not the sandbox`)]);
    await shop.close();
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
    await expect.poll(() => saved().clockOffset, { timeout: 10_000 }).toBe(3_600_000);
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

  it.each([
    ['of something else', '{"name":"my-shop","version":"1.0.0"}'],
    ['that is cut off', '{"version":1,"payments":['],
    ['that is empty', ''],
    [
      'whose parts are damaged',
      '{"version":1,"payments":[5],"deliveries":[],"waiting":[],"timelines":[],"calls":[],"faults":[],"clockOffset":0}',
    ],
    [
      'of a later version',
      '{"version":2,"payments":[],"deliveries":[],"waiting":[],"timelines":[],"calls":[],"faults":[],"clockOffset":0}',
    ],
  ])('refuses a file %s, and leaves it as it is', async (_, contents) => {
    const other = join(folder, 'other.json');
    writeFileSync(other, contents);
    const { code, err, out } = await run(['--port', '0', '--state', other]);
    expect([code, out, err]).toEqual([
      2,
      '',
      `payment-gateway-sandbox: --state: ${other} is damaged, or not a file of this sandbox. It is left as it is: name another, or delete it.\n`,
    ]);
    expect(readFileSync(other, 'utf8')).toBe(contents);
  });
});
