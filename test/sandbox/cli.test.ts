// The command line as a user runs it: real processes, real ports.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it } from 'vitest';
import { FROM_SOURCE } from '../support/processes.ts';
import { openShop } from '../support/shop.ts';

const cli = fileURLToPath(new URL('../../src/sandbox/cli/main.ts', import.meta.url));
const started: ChildProcessWithoutNullStreams[] = [];

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
async function run(args: string[], env?: Record<string, string>) {
  const child = start(args, env);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { out, err, code };
}

/** A running sandbox, and what it has printed. */
async function serve(...args: string[]) {
  const child = start(['--port', '0', ...args]);
  let printed = '';
  child.stdout.on('data', chunk => {
    printed += chunk;
  });
  const shows = async (what: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = what.exec(printed);
      if (found) return found;
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    }
  };
  const [, url = ''] = await shows(/PAYMENT_GATEWAY_URL=(\S+)\n[\s\S]*SIGN_KEY=\S+\n/);
  return { child, url, port: new URL(url).port, shows, printed: () => printed };
}

describe('payment-gateway-sandbox', { timeout: 20_000 }, () => {
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
      paymentMethod: 'CARD',
      amount: 5,
      currency: 'EUR',
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
    await shows(new RegExp(`200 callback COMPLETED → ${shop.url}/webhooks {2}\\d+ ms\\n`));
    expect(shop.posts).toHaveLength(1);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await shop.close();
  });

  it('moves each new payment by itself with --auto, and says what a client must be told', async () => {
    const { url, shows } = await serve(
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
  });

  it('is told to play a scenario, and to arm a fault', async () => {
    const shop = await openShop();
    const { url, port, shows } = await serve();
    const nowhere = await run(['trigger', 'deposit-completed', '--port', port]);
    expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('pass --to')]);
    const played = await run(['trigger', 'deposit-authorized', '--port', port, '--to', shop.url]);
    expect(played).toMatchObject({ code: 0, err: '' });
    expect(played.out).toMatch(
      /^COMPLETED {2}deposit-authorized-[\s\S]*200 callback AUTHORIZED[\s\S]*200 callback COMPLETED/,
    );
    expect(shop.posts).toHaveLength(2);

    const armed = await run(['fault', 'reject-422', '--port', port]);
    expect(armed).toMatchObject({ code: 0, out: 'armed: reject-422\n' });
    await shows(/armed: reject-422/);
    const { apiKey, signKey } = new Sandbox().clientOptions;
    const gateway = new GatewayClient({ baseUrl: url, apiKey, signKey });
    await expect(
      gateway.createDeposit({ paymentMethod: 'CARD', amount: 5, currency: 'EUR', webhookUrl: shop.url }),
    ).rejects.toMatchObject({ status: 422 });
    await shows(/422 POST .* fault: reject-422 {2}The given data was invalid/);
    await shop.close();
  });

  it.each([
    [['--prot', '1'], {}, 'payment-gateway-sandbox: No option is called "--prot". Did you mean --port?\n'],
    [['--sign-key', ''], {}, 'payment-gateway-sandbox: --sign-key must not be empty.\n'],
    [[], { NODE_ENV: 'production' }, 'The sandbox does not start under NODE_ENV=production'],
    [['trigger', 'deposit-completed', '--port', '1'], {}, 'No sandbox answers at http://127.0.0.1:1. Start one:'],
  ])('ends with one line and exit code 2 for %j %j', async (args, env, told) => {
    const { code, out, err } = await run(args, env);
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
});
