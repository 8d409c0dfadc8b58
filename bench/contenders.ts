// The contenders: this SDK, Stripe's as its guide shows it, and the code that a developer writes by hand.
import { createHmac } from 'node:crypto';
import http from 'node:http';

/** Opens a client, and returns a function that makes one create. */
type Open = (url: string) => Promise<() => Promise<unknown>>;

const request = {
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  reference: 'order-1042',
  webhookUrl: 'https://shop.example/callbacks',
} as const;
const [apiKey, signKey] = ['bench-api-key', 'bench-sign-key'];

/** What a careful developer writes: the body signed, the answer checked. */
function byHand() {
  const body = JSON.stringify({ paymentType: 'DEPOSIT', ...request, amount: 25.5 });
  const signature = createHmac('sha256', signKey).update(body).digest('hex');
  return { body, headers: { authorization: `Bearer ${apiKey}`, signature, 'content-type': 'application/json' } };
}

function checked(status: number, text: string): unknown {
  if (status !== 201) throw new Error(String(status));
  const { result } = JSON.parse(text);
  if (typeof result.id !== 'string' || typeof result.amount !== 'number') throw new TypeError('drifted');
  return result;
}

export const CONTENDERS: Record<string, Open> = {
  'payment-gateway-sdk': async baseUrl => {
    const { GatewayClient } = await import('payment-gateway-sdk');
    const gateway = new GatewayClient({ baseUrl, apiKey, signKey });
    return () => gateway.createDeposit(request);
  },

  'by hand, fetch': async baseUrl => async () => {
    const signal = AbortSignal.timeout(30_000);
    const init = { method: 'POST', ...byHand(), signal, redirect: 'manual', cache: 'no-store' } as const;
    const response = await fetch(`${baseUrl}/api/v1/payments`, init);
    return checked(response.status, await response.text());
  },

  'by hand, node:http': async baseUrl => {
    const agent = new http.Agent({ keepAlive: true });
    return () =>
      new Promise((resolve, reject) => {
        const { body, headers } = byHand();
        const sent = { ...headers, 'content-length': Buffer.byteLength(body) };
        const outgoing = http.request(`${baseUrl}/api/v1/payments`, {
          method: 'POST',
          agent,
          headers: sent,
          timeout: 30_000,
        });
        outgoing.on('timeout', () => outgoing.destroy(new Error('timeout')));
        outgoing.on('error', reject);
        outgoing.on('response', incoming => {
          let text = '';
          incoming.setEncoding('utf8');
          incoming.on('data', chunk => {
            text += chunk;
          });
          incoming.on('end', () => resolve(checked(incoming.statusCode ?? 0, text)));
        });
        outgoing.end(body);
      });
  },

  'by hand, undici.request': async baseUrl => {
    const { Agent, request } = await import('undici');
    const dispatcher = new Agent({ connections: 256 });
    return async () => {
      const options = { method: 'POST', ...byHand(), dispatcher, headersTimeout: 30_000 } as const;
      const { statusCode, body } = await request(`${baseUrl}/api/v1/payments`, options);
      return checked(statusCode, await body.text());
    };
  },

  'stripe, node:http': stripe,
};

async function stripe(url: string) {
  const { default: Stripe } = await import('stripe');
  const { hostname: host, port } = new URL(url);
  const options = { host, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false } as const;
  const client = new Stripe('sk_test_x', { ...options, httpClient: Stripe.createNodeHttpClient() });
  const payment = { amount: 2550, currency: 'eur', description: 'order-1042', metadata: { order: '1042' } };
  return () => client.paymentIntents.create(payment);
}
