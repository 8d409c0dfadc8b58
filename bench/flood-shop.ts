// The shop of the flood, in a separate process. Its gateway answers after 100 ms, and knows the ids that end in 0.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createWebhookHandler, GatewayClient, toNodeHandler } from 'payment-gateway-sdk';

let running = 0;
let most = 0;
const gateway = new GatewayClient({
  baseUrl: 'https://gateway.example',
  apiKey: 'api-key',
  signKey: 'sign-key',
  retries: 0,
  fetch: async url => {
    most = Math.max(most, ++running);
    await delay(100);
    running -= 1;
    const id = url.slice(url.lastIndexOf('/') + 1);
    if (!id.endsWith('0')) return new Response('{}', { status: 404 });
    const record = { id, paymentStatus: 'COMPLETED', paymentType: 'DEPOSIT', amount: 25.5, currency: 'EUR' };
    return new Response(JSON.stringify({ result: record }));
  },
});
const handler = createWebhookHandler({ gateway, onPayment: () => {}, onError: () => {} });

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

process.on('message', () => {
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  process.send?.({ heap: heapUsed / 2 ** 20, rss: rss / 2 ** 20, most });
  most = 0;
});
process.on('disconnect', () => process.exit());
const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
