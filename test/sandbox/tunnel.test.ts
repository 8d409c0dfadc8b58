// A sandbox behind an HTTPS tunnel, its pages in a frame, and callbacks with credentials or a name.
import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { signBody } from '../../src/payments/signing/sign.ts';

afterEach(() => vi.restoreAllMocks());

const DEPOSIT = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 25.5, currency: 'EUR' };
const TUNNEL = 'https://example.ngrok.app';

const create = async (sandbox: Sandbox, fields: object = {}) => {
  const body = JSON.stringify({ ...DEPOSIT, webhookUrl: 'http://127.0.0.1:1/', ...fields });
  const headers = { authorization: 'Bearer sandbox-api-key', signature: signBody(body, 'sandbox-sign-key') };
  const response = await sandbox.fetch('http://sandbox.localhost/api/v1/payments', { method: 'POST', headers, body });
  return ((await response.json()) as { result: { id: string; redirectUrl: string } }).result;
};

async function listen(options: SandboxOptions<'standard'>) {
  const sandbox: Sandbox = new Sandbox(options);
  const { url, close } = await sandbox.listen();
  onTestFinished(close);
  /** Calls with headers that fetch does not send. */
  const ask = async (path: string, headers: Record<string, string>, method = 'GET') => {
    const asked = request(url + path, { method, headers }).end();
    const [response] = await once(asked, 'response');
    return { status: response.statusCode, text: await text(response) };
  };
  return { sandbox, ask };
}

it('customers and the dashboard reach it through a tunnel', async () => {
  const { sandbox, ask } = await listen({ publicUrl: `${TUNNEL}/` });
  const { id, redirectUrl } = await create(sandbox);
  expect(redirectUrl).toBe(`${TUNNEL}/pay/${id}`);
  const host = new URL(TUNNEL).host;
  const info = JSON.parse((await ask('/_sandbox/info', { host, 'x-forwarded-proto': 'https' })).text);
  expect(info).toMatchObject({ baseUrl: TUNNEL });
  expect((await ask('/clock', { host, origin: TUNNEL }, 'POST')).status).toBe(303);
  expect((await ask('/clock', { host, origin: `http://${host}` }, 'POST')).status).toBe(403);
  expect((await ask('/clock', { host: 'evil.example', origin: TUNNEL }, 'POST')).status).toBe(403);
});

it("only the pages of the given sites embed a customer's page, and none embeds the dashboard", async () => {
  const policyOf = async (sandbox: Sandbox, path: string) =>
    /frame-ancestors .*$/.exec(
      (await sandbox.fetch(`http://sandbox.localhost${path}`)).headers.get('content-security-policy') ?? '',
    )?.[0];
  const open = new Sandbox({ frameAncestors: ['https://shop.example/cart', 'http://localhost:3000'] });
  const { id } = await create(open);
  expect(await policyOf(open, `/pay/${id}`)).toBe('frame-ancestors https://shop.example http://localhost:3000');
  expect(await policyOf(open, '/')).toBe("frame-ancestors 'none'");
  const closed = new Sandbox();
  expect(await policyOf(closed, `/pay/${(await create(closed)).id}`)).toBe("frame-ancestors 'none'");
});

it.each([
  // printf 'us@er:p:w' | base64
  ['the credentials', 'us%40er:p:w@127.0.0.1', 'Basic dXNAZXI6cDp3'],
  ['the name', 'app.localhost', undefined],
  ['the credentials and the name', 'us%40er:p:w@my.app.localhost', 'Basic dXNAZXI6cDp3'],
])('a callback carries %s of its address, and asks no DNS', async (_, authority, authorization) => {
  const seen: object[] = [];
  const shop = createServer(async (request, response) => {
    const { url, headers } = request;
    seen.push({ url, host: headers.host, authorization: headers.authorization, body: await text(request) });
    response.writeHead(202).end('thanks');
  }).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  onTestFinished(() => void shop.close());
  const lookup = vi.spyOn(dns, 'lookup');
  const sandbox: Sandbox = new Sandbox();
  const { port } = shop.address() as AddressInfo;
  const { id } = await create(sandbox, { webhookUrl: `http://${authority}:${port}/callbacks?a=1` });
  await sandbox.complete(id);
  await sandbox.idle();
  const [delivery] = sandbox.deliveries;
  const host = `${authority.split('@').at(-1)}:${port}`;
  expect(seen).toEqual([{ url: '/callbacks?a=1', host, authorization, body: delivery?.body }]);
  expect(delivery).toMatchObject({ status: 202, answer: 'thanks' });
  expect(lookup.mock.calls.map(([name]) => name).join()).not.toContain('app');
});
