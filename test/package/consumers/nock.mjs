// A merchant's tests over nock.
import assert from 'node:assert/strict';
import { GatewayClient, signBody } from 'payment-gateway-sdk';
import { request as card, id, record } from './merchant.mjs';

const { default: nock } = await import(process.argv[2]);
nock.disableNetConnect();
const gateway = nock('https://gateway.example');
const request = { ...card, amount: 25.5 };
const body = { paymentType: 'DEPOSIT', ...request };
gateway
  .post('/api/v1/payments', body)
  .matchHeader('signature', signBody(JSON.stringify(body), 's'))
  .times(2)
  .reply(201, { result: record });
gateway.get(`/api/v1/payments/${id}`).reply(503).get(`/api/v1/payments/${id}`).reply(200, { result: record });
gateway.post('/api/v1/payments').replyWithError('broken');

const client = new GatewayClient({ apiKey: 'k', signKey: 's', baseUrl: 'https://gateway.example' });
for (let call = 0; call < 2; call++) assert.equal((await client.createDeposit(request)).payment.id, id);
assert.equal((await client.getPayment(id)).paymentStatus, 'PENDING');
const broken = await client.createDeposit(request).catch(error => error);
assert.equal(broken.name, 'ConnectionError');
assert(nock.isDone());
// Without a handler: nock 15 answers an error status, its elders break the connection.
const blocked = await client.createDeposit(request).catch(error => error);
assert.equal(blocked.outcome, 'unknown');
console.log('consumer: done');
