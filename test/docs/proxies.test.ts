// The examples of docs/security.md about proxies and certificates, each run as a process, through a proxy and at a gateway that asks for certificates.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { forwardProxy } from '../support/forward-proxy.ts';
import { FROM_SOURCE } from '../support/processes.ts';
import { authority, certificate } from '../support/tls.ts';
import { blocksOf, root } from './pages.ts';

const BY_NAME = ['--import', new URL('./by-name.mjs', import.meta.url).href];
const examples = blocksOf('docs/security.md').filter(({ language }) => language === 'ts');
const exampleOf = (reference: string) => examples.find(({ code }) => code.includes(reference))?.code ?? '';

let folder = '';
beforeAll(() => {
  mkdirSync(`${root}test/docs/examples`, { recursive: true });
  folder = mkdtempSync(`${root}test/docs/examples/proxies-`);
  for (const file of ['client.crt', 'client.key', 'authority.crt']) {
    copyFileSync(`${root}test/fixtures/tls/${file}`, `${folder}/${file}`);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A gateway over TLS, whose certificate a private authority has signed. @param isMutual asks merchants for theirs */
async function openGateway(isMutual: boolean) {
  const sandbox = new Sandbox({ fetch: async () => new Response() });
  const merchants: string[] = [];
  const server = createServer(
    { ...certificate('server'), ca: authority, requestCert: isMutual, rejectUnauthorized: isMutual },
    async (request, response) => {
      merchants.push(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN));
      const { method = '', url, headers } = request;
      const body = await text(request);
      const fields = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]);
      const answer = await sandbox.fetch(`http://sandbox.localhost${url}`, { method, headers: fields, body });
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { apiKey, signKey } = sandbox.clientOptions;
  const env = {
    PAYMENT_GATEWAY_URL: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    PAYMENT_GATEWAY_API_KEY: apiKey,
    PAYMENT_GATEWAY_SIGN_KEY: signKey,
    NO_PROXY: '',
    HTTPS_PROXY: '',
    NODE_USE_ENV_PROXY: '',
  };
  return { merchants, env };
}

/** Runs an example in a folder that has the certificates. @returns what it printed */
async function run(reference: string, env: object): Promise<string> {
  const file = `${folder}/${reference}.ts`;
  writeFileSync(file, exampleOf(reference));
  const child = spawn(process.execPath, [...FROM_SOURCE, ...BY_NAME, file], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [printed, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return printed || complaints;
}

const NODE_EXTRA_CA_CERTS = 'authority.crt';

describe('docs/security.md', () => {
  it('sends through the proxy of an agent', async () => {
    const [{ env }, proxy] = [await openGateway(false), await forwardProxy()];
    onTestFinished(proxy.close);
    const printed = await run('order-2001.1', { ...env, NODE_EXTRA_CA_CERTS, HTTPS_PROXY: proxy.url });
    expect([printed, proxy.tunnels]).toEqual(['order-2001.1 PENDING\n', 1]);
  });

  it('shows a client certificate, and trusts a private authority', async () => {
    const { env, merchants } = await openGateway(true);
    expect(await run('order-2002.1', env)).toBe('order-2002.1 PENDING\n');
    expect(merchants).toEqual(['merchant']);
  });

  it('trusts an authority of the environment, and without it sends nothing', async () => {
    const { env, merchants } = await openGateway(false);
    expect(await run('order-2003.1', { ...env, NODE_EXTRA_CA_CERTS })).toBe('order-2003.1 PENDING\n');
    expect(await run('order-2003.1', env)).toContain("outcome: 'not_sent'");
    expect(merchants).toHaveLength(1);
  });

  it('uses a proxy of the environment where Node is told so', async () => {
    const [{ env }, proxy] = [await openGateway(false), await forwardProxy()];
    onTestFinished(proxy.close);
    const proxied = { ...env, NODE_EXTRA_CA_CERTS, HTTPS_PROXY: proxy.url };
    expect(await run('order-2003.1', { ...proxied, NODE_USE_ENV_PROXY: '1' })).toBe('order-2003.1 PENDING\n');
    expect(proxy.tunnels).toBe(1);
    expect(await run('order-2003.1', proxied)).toBe('order-2003.1 PENDING\n');
    expect(proxy.tunnels).toBe(1);
  });
});
