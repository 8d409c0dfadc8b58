// An app that loads both copies of the SDK, as one does when a dependency is still CommonJS.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as esm from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { request } from './merchant.mjs';

const cjs = createRequire(import.meta.url)('payment-gateway-sdk');
assert.notEqual(esm.InvalidRequestError, cjs.InvalidRequestError);
assert.deepEqual(Object.keys(esm).sort(), Object.keys(cjs).sort());
const error = new cjs.InvalidRequestError([]);
assert(!(error instanceof esm.InvalidRequestError) && esm.isGatewayError(error));

// What one of them makes, the other takes: a sandbox, a store, a client.
for (const [one, other] of [
  [esm, cjs],
  [cjs, esm],
]) {
  const paid = [];
  const sandbox = new Sandbox({ fetch: (url, init) => handler(new Request(url, init)) });
  const gateway = new one.GatewayClient({ ...sandbox.clientOptions, store: other.memoryStore() });
  const handler = other.createWebhookHandler({
    gateway,
    onPayment: ({ id, paymentStatus }) => void paid.push([id, paymentStatus]),
  });
  const order = { ...request, reference: 'order-1' };
  const { payment } = await gateway.createDeposit(order);
  assert.equal((await gateway.createDeposit(order)).payment.id, payment.id);
  await sandbox.complete(payment.id);
  await sandbox.idle();
  assert.deepEqual(paid, [[payment.id, 'COMPLETED']]);
  // A lookup that fails in one copy is understood by the other: the gateway is asked to call back again.
  const stranger = { id: '4f2b7a1e-0b57-4c0e-9a37-1f0c5c3d2b10', paymentStatus: 'COMPLETED' };
  const post = { method: 'POST', body: JSON.stringify(stranger), headers: { 'content-type': 'application/json' } };
  const answer = await handler(new Request('https://shop.example/callbacks', post));
  assert.deepEqual([answer.status, await answer.text()], [503, 'unknown_payment']);
}
console.log('consumer: done');
