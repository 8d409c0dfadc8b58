// What the client costs over hand-written fetch code: node bench/client.ts, after npm run build.
// Both sides sign, send, read and check; the gateway is the same loopback server. Ratios are of one run.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayClient } from 'payment-gateway-sdk';

const id = '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10';
const record = {
  id,
  paymentStatus: 'PENDING',
  created: { date: '2026-11-21 08:46:13.476123', timezone_type: 3, timezone: 'UTC' },
  paymentType: 'DEPOSIT',
  description: null,
  paymentMethod: 'CARD',
  reference: 'order-1042',
  amount: 25.5,
  currency: 'EUR',
  customer: null,
  billingAddress: [],
  redirectUrl: `https://pay.example/p/${id}`,
};
const answered = { result: record };
const answer = JSON.stringify(answered);

const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const [apiKey, signKey] = ['bench-api-key', 'bench-sign-key'];

const gateway = new GatewayClient({ baseUrl, apiKey, signKey });
const request = {
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  reference: 'order-1042',
  webhookUrl: 'https://shop.example/callbacks',
} as const;

/** What a careful developer writes: a time-out, no redirects, no cache, the status checked. */
async function byHand(url: string, init: RequestInit): Promise<unknown> {
  const signal = AbortSignal.timeout(30_000);
  const response = await fetch(url, { ...init, signal, redirect: 'manual', cache: 'no-store' });
  if (!response.ok) throw new Error(String(response.status));
  const { result } = (await response.json()) as typeof answered;
  if (typeof result.id !== 'string' || typeof result.amount !== 'number') throw new TypeError('drifted');
  return result;
}

const authorization = `Bearer ${apiKey}`;

function createByHand(): Promise<unknown> {
  const body = JSON.stringify({ paymentType: 'DEPOSIT', ...request, amount: 25.5 });
  const signature = createHmac('sha256', signKey).update(body).digest('hex');
  const headers = { authorization, signature, 'content-type': 'application/json' };
  return byHand(`${baseUrl}/api/v1/payments`, { method: 'POST', headers, body });
}

const lookUpByHand = () => byHand(`${baseUrl}/api/v1/payments/${id}`, { headers: { authorization } });

/** Microseconds a call, one after another. */
async function time(call: () => Promise<unknown>, calls = 400): Promise<number> {
  const begun = performance.now();
  for (let i = 0; i < calls; i++) await call();
  return ((performance.now() - begun) * 1000) / calls;
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Interleaved, so that both sides meet the same noise. */
async function compare(name: string, ours: () => Promise<unknown>, theirs: () => Promise<unknown>): Promise<void> {
  await time(ours);
  await time(theirs);
  const [mine, hand]: [number[], number[]] = [[], []];
  for (let round = 0; round < 15; round++) {
    mine.push(await time(ours));
    hand.push(await time(theirs));
  }
  const ratio = median(mine.map((value, index) => value / (hand[index] ?? 1)));
  console.log(
    `${name.padEnd(8)} SDK ${median(mine).toFixed(0)} µs   by hand ${median(hand).toFixed(0)} µs   ratio ${ratio.toFixed(2)}`,
  );
}

await compare('create', () => gateway.createDeposit(request), createByHand);
await compare('lookup', () => gateway.getPayment(id), lookUpByHand);
server.close();
server.closeAllConnections();
