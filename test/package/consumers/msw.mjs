// A merchant's tests over msw, of the version in the arguments: both of the handler kinds that people write.
import assert from 'node:assert/strict';
import { GatewayClient, signBody } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { id, request } from './merchant.mjs';

const { HttpResponse, http } = await import(process.argv[2]);
const { setupServer } = await import(`${process.argv[2]}/node`);
const sandbox = new Sandbox({ fetch: async () => new Response() });
const seen = [];
const server = setupServer(
  http.all('https://sandbox.example/*', async ({ request }) => sandbox.fetch(request)),
  http.post('https://gateway.example/api/v1/payments', async ({ request }) => {
    const body = await request.text();
    seen.push([request.headers.get('signature'), body]);
    return HttpResponse.json({ message: 'no' }, { status: 422 });
  }),
  http.get('https://gateway.example/api/v1/payments/*', () => HttpResponse.error()),
);
server.listen({ onUnhandledRequest: 'error', onUnhandledFrame: 'error' });

const { apiKey, signKey } = sandbox.clientOptions;
const paying = new GatewayClient({ apiKey, signKey, baseUrl: 'https://sandbox.example' });
for (let call = 0; call < 3; call++) {
  const { payment } = await paying.createDeposit(request);
  assert.equal((await paying.getPayment(payment.id)).paymentStatus, 'PENDING');
}
assert.equal(sandbox.payments.length, 3);

const refused = new GatewayClient({ apiKey: 'k', signKey: 's', baseUrl: 'https://gateway.example', retries: 0 });
const refusal = await refused.createDeposit(request).catch(error => error);
assert.equal(refusal.outcome, 'rejected');
assert.deepEqual(seen, [[signBody(seen[0][1], 's'), seen[0][1]]]);
const lost = await refused.getPayment(id).catch(error => error);
assert.equal(lost.name, 'ConnectionError');
server.close();
console.log('consumer: done');
