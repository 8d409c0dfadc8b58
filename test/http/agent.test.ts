// Connections of the merchant's own agent: client certificates, a private authority, proxies.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AgentOptions, Agent as HttpAgent, globalAgent as httpGlobalAgent } from 'node:http';
import { createServer, Agent as HttpsAgent, globalAgent as httpsGlobalAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { GatewayClient } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { CARD, errorOf, ID, KEYS, record } from '../support/fixtures.ts';
import { forwardProxy } from '../support/forward-proxy.ts';
import { FROM_SOURCE } from '../support/processes.ts';
import { type Connection, http, tcpGateway } from '../support/tcp.ts';
import { authority, certificate, distrustOurs, trustOurs } from '../support/tls.ts';

const created = record('created card deposit');
const answers = ({ socket }: Connection) => void socket.write(http(created));

/** A gateway that knows its merchants by their certificates. */
async function mutualTlsGateway() {
  const merchants: string[] = [];
  const server = createServer(
    { ...certificate('server'), ca: authority, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      merchants.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
      request.resume().on('end', () => response.writeHead(201).end(created));
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, merchants, close };
}

afterEach(distrustOurs);

describe("an agent of the merchant's own", () => {
  it('shows a client certificate, and trusts a private authority', async () => {
    const { baseUrl, merchants, close } = await mutualTlsGateway();
    const agent = new HttpsAgent({ keepAlive: true, ca: authority, ...certificate('client') });
    const gateway = new GatewayClient({ ...KEYS, baseUrl, agent });
    for (let call = 0; call < 2; call++)
      await expect(gateway.createDeposit(CARD)).resolves.toHaveProperty('payment.id', ID);
    expect(merchants).toEqual(['merchant', 'merchant']);
    agent.destroy();
    close();
  });

  it('leads through a proxy, which opens a tunnel', async () => {
    trustOurs();
    const [proxy, gateway] = [await forwardProxy(), await tcpGateway({ onRequest: answers }, 'server')];
    const agent = new HttpsProxyAgent(proxy.url, { keepAlive: true });
    const client = new GatewayClient({ ...KEYS, baseUrl: gateway.url, agent });
    for (let call = 0; call < 2; call++) await client.createDeposit(CARD);
    expect([proxy.tunnels, gateway.creates, gateway.connections]).toEqual([1, 2, 1]);
    agent.destroy();
    await Promise.all([proxy.close(), gateway.close()]);
  });

  it.each([
    [
      'whose proxy is down',
      async () => {
        const { url, close } = await forwardProxy();
        await close();
        return { agent: new HttpsProxyAgent(url), baseUrl: 'https://127.0.0.1:9', close: async () => {} };
      },
    ],
    [
      'whose TLS handshake is not answered',
      async () => {
        const gateway = await tcpGateway({});
        return { agent: new HttpsAgent(), baseUrl: gateway.url.replace('http:', 'https:'), close: gateway.close };
      },
    ],
    [
      'whose TLS handshake behind a proxy is not answered',
      async () => {
        const [proxy, gateway] = [await forwardProxy(), await tcpGateway({})];
        const close = async () => void (await Promise.all([proxy.close(), gateway.close()]));
        return { agent: new HttpsProxyAgent(proxy.url), baseUrl: gateway.url.replace('http:', 'https:'), close };
      },
    ],
    [
      'that refuses to connect',
      async () => {
        class Refusing extends HttpsAgent {
          override createConnection(): never {
            throw new Error('no connections today');
          }
        }
        return { agent: new Refusing(), baseUrl: 'https://127.0.0.1:9', close: async () => {} };
      },
    ],
  ])('%s has sent nothing', async (_, open) => {
    const { agent, baseUrl, close } = await open();
    const client = new GatewayClient({ ...KEYS, baseUrl, agent, timeout: 400, retries: 0 });
    expect(await errorOf(client.createDeposit(CARD))).toMatchObject({ name: 'ConnectionError', outcome: 'not_sent' });
    await close();
  });

  it('whose proxy refuses the tunnel makes no payment, and a proxy is not believed to know', async () => {
    const proxy = await forwardProxy({ refuses: true });
    const client = new GatewayClient({
      ...KEYS,
      baseUrl: 'https://127.0.0.1:9',
      agent: new HttpsProxyAgent(proxy.url),
    });
    expect(await errorOf(client.createDeposit(CARD))).toMatchObject({ status: 407, outcome: 'unknown' });
    await proxy.close();
  });

  it('with a single socket serves the next call after one that gave up waiting for it', async () => {
    const asked: Connection[] = [];
    const gateway = await tcpGateway({
      onRequest: connection => void (asked.push(connection) > 1 && answers(connection)),
    });
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
    const client = new GatewayClient({ ...KEYS, baseUrl: gateway.url, agent, retries: 0, timeout: 5_000 });
    const waiting = () => Object.values(agent.requests).flat().length;
    const first = client.createDeposit(CARD);
    await expect.poll(() => asked.length, { interval: 5 }).toBe(1);
    const controller = new AbortController();
    const second = errorOf(client.createDeposit(CARD, { signal: controller.signal }));
    await expect.poll(waiting, { interval: 5 }).toBe(1);
    controller.abort();
    expect(await second).toMatchObject({ code: 'aborted', outcome: 'not_sent' });
    asked[0]?.socket.write(http(created));
    await first;
    await expect(client.createDeposit(CARD)).resolves.toHaveProperty('payment.id', ID);
    expect([gateway.creates, gateway.connections]).toEqual([2, 1]);
    agent.destroy();
    await gateway.close();
  });
});

describe('the proxies of the environment', () => {
  const LONE = fileURLToPath(new URL('lone-create.ts', import.meta.url));
  const create = async (env: object) => {
    const child = spawn(process.execPath, [...FROM_SOURCE, LONE], {
      env: { ...process.env, TIMEOUT: '30000', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return JSON.parse(await text(child.stdout));
  };

  it.each([
    ['http:', undefined, { tunnels: 0, requests: 2 }],
    ['https:', 'server', { tunnels: 1, requests: 0 }],
  ] as const)(
    'are those of the agent that Node has made for %s, and a tunnel is used again',
    async (_, tlsOf, expected) => {
      trustOurs();
      const [proxy, gateway] = [await forwardProxy(), await tcpGateway({ onRequest: answers }, tlsOf)];
      const { options } = (tlsOf ? httpsGlobalAgent : httpGlobalAgent) as { options?: AgentOptions };
      onTestFinished(() => void delete options?.proxyEnv);
      Object.assign(options ?? {}, { proxyEnv: { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url } });
      const client = new GatewayClient({ ...KEYS, baseUrl: gateway.url });
      for (let call = 0; call < 2; call++) await client.createDeposit(CARD);
      expect(proxy).toMatchObject(expected);
      expect(gateway.creates).toBe(2);
      await Promise.all([proxy.close(), gateway.close()]);
    },
  );

  it('that are down have passed nothing on', async () => {
    const { url, close } = await forwardProxy();
    await close();
    const env = { HTTPS_PROXY: url, BASE_URL: 'https://127.0.0.1:9', NO_PROXY: '', NODE_USE_ENV_PROXY: '1' };
    expect(await create(env)).toEqual({ outcome: 'not_sent', code: 'ECONNREFUSED' });
  });
});
