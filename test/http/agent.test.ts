// Connections of the merchant's own agent: what has left, and what the next call gets. docs/proxies.test.ts plays proxies and certificates.
import { Agent as HttpAgent } from 'node:http';
import https, { Agent as HttpsAgent } from 'node:https';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { GatewayClient } from 'payment-gateway-sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CARD, errorOf, ID, KEYS, throwing } from '../support/fixtures.ts';
import { forwardProxy } from '../support/forward-proxy.ts';
import { type Connection, http, tcpGateway } from '../support/tcp.ts';
import { distrustOurs, trustOurs } from '../support/tls.ts';
import { answers, created } from './connection-cases.ts';

describe("an agent of the merchant's own", () => {
  const nowhere = { baseUrl: 'https://127.0.0.1:9', close: async () => {} };
  const secure = ({ url, close }: { url: string; close(): Promise<void> }) => ({
    baseUrl: url.replace('http:', 'https:'),
    close,
  });
  class Refusing extends HttpsAgent {
    override createConnection = throwing(new Error('no connections today'));
  }
  const downProxy = async () => {
    const { url, close } = await forwardProxy();
    await close();
    return { ...nowhere, agent: new HttpsProxyAgent(url) };
  };
  const silentBehindProxy = async () => {
    const [proxy, gateway] = [await forwardProxy(), await tcpGateway({})];
    const close = async () => void (await Promise.all([proxy.close(), gateway.close()]));
    return { ...secure(gateway), agent: new HttpsProxyAgent(proxy.url), close };
  };
  it.each([
    ['whose proxy is down', downProxy],
    ['whose TLS handshake is not answered', async () => ({ ...secure(await tcpGateway({})), agent: new HttpsAgent() })],
    ['whose TLS handshake behind a proxy is not answered', silentBehindProxy],
    ['that refuses to connect', async () => ({ ...nowhere, agent: new Refusing() })],
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

// With NODE_USE_ENV_PROXY, Node gives its global agents these options. docs/proxies.test.ts sets it in a process.
describe('the proxies of the environment', () => {
  const clientThrough = ({ url }: { url: string }, baseUrl: string) => {
    const own = https.globalAgent;
    https.globalAgent = new HttpsAgent({ proxyEnv: { HTTPS_PROXY: url } });
    onTestFinished(() => void Object.assign(https, { globalAgent: own }));
    return new GatewayClient({ ...KEYS, baseUrl, retries: 0 });
  };

  it('pass creates on, over one connection', async () => {
    trustOurs();
    onTestFinished(distrustOurs);
    const [proxy, gateway] = [await forwardProxy(), await tcpGateway({ onRequest: answers }, 'server')];
    const client = clientThrough(proxy, gateway.url);
    for (let call = 0; call < 2; call++) await client.createDeposit(CARD);
    expect([gateway.creates, proxy.tunnels]).toEqual([2, 1]);
    await Promise.all([proxy.close(), gateway.close()]);
  });

  it('that are down have passed nothing on', async () => {
    const proxy = await forwardProxy();
    await proxy.close();
    const error = await errorOf(clientThrough(proxy, 'https://127.0.0.1:9').createDeposit(CARD));
    expect(error).toMatchObject({ outcome: 'not_sent', code: 'ECONNREFUSED' });
  });
});
