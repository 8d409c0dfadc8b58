// The gateway of every contender, in a separate process: one JSON answer for each, all of the same size.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

const REFERENCE = 'order-1042';
const id = '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10';

/** The record of the gateway's document, and the minimum for Stripe's SDK. */
const ANSWERS: Record<string, (padding: string) => object> = {
  '/api/v1/payments': description => ({
    result: {
      id,
      paymentStatus: 'PENDING',
      created: { date: '2026-11-21 08:46:13.476123', timezone_type: 3, timezone: 'UTC' },
      paymentType: 'DEPOSIT',
      description,
      paymentMethod: 'CARD',
      reference: REFERENCE,
      amount: 25.5,
      currency: 'EUR',
      customer: null,
      billingAddress: { address1: null, city: null, countryCode: 'DE', postalCode: null, state: null },
      redirectUrl: `https://pay.example/p/${id}`,
    },
  }),
  stripe: description => ({
    id: 'pi_1',
    object: 'payment_intent',
    amount: 2550,
    currency: 'eur',
    metadata: {},
    description,
  }),
};
const SIZE = 700;

const bodies = new Map(
  Object.entries(ANSWERS).map(([name, answer]) => {
    const bare = JSON.stringify(answer(''));
    return [name, Buffer.from(JSON.stringify(answer('x'.repeat(SIZE - bare.length))))];
  }),
);

const answer: RequestListener = (request, response) => {
  let sent = '';
  request.setEncoding('utf8').on('data', chunk => {
    sent += chunk;
  });
  request.on('end', () => {
    const [, name = ''] = request.url?.split('/') ?? [];
    const body = bodies.get(name) ?? made.get(request.url?.slice(-36) ?? '') ?? ofReference(sent);
    response.writeHead(request.method === 'POST' ? 201 : 200, {
      'content-type': 'application/json',
      'content-length': body?.byteLength,
    });
    response.end(body);
  });
};

/** Payments with another reference, by id. */
const made = new Map<string, Buffer>();

/** Makes a payment with the reference of the request. */
function ofReference(sent: string): Buffer | undefined {
  const payment = bodies.get('/api/v1/payments');
  const [, reference] = /"reference":"([^"]+)"/.exec(sent) ?? [];
  if (!reference || reference === REFERENCE) return payment;
  const own = randomUUID();
  const body = Buffer.from(String(payment).replace(REFERENCE, reference).replaceAll(id, own));
  made.set(own, body);
  return body;
}

const server = createServer(answer).listen(0, '127.0.0.1');
server.keepAliveTimeout = 60_000;
await once(server, 'listening');
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
// Also after a kill of the parent.
process.on('disconnect', () => process.exit());
