// An app that imports both builds: Node's connections load with the first call of a client without `fetch`.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as esm from 'payment-gateway-sdk';
import { id, record } from './merchant.mjs';

const cjs = createRequire(import.meta.url)('payment-gateway-sdk');
const isLoaded = name => process.moduleLoadList.includes(`NativeModule ${name}`);

const text = async () => JSON.stringify(record);
const fetch = async () => ({ status: 200, headers: { get: () => null }, body: null, text });
const options = { apiKey: 'k', signKey: 's', baseUrl: 'http://127.0.0.1:1', retries: 0 };

const clients = [new esm.GatewayClient(options), new cjs.GatewayClient(options)];
await new Promise(resolve => setTimeout(resolve, 100));
assert.deepEqual(['http', 'https', 'tls'].filter(isLoaded), []);

// ky looks at Request, for which Node loads http and tls: only the SDK's connections load https.
for (const { GatewayClient } of [esm, cjs]) await new GatewayClient({ ...options, fetch }).getPayment(id);
assert(!isLoaded('https'));

for (const client of clients) await assert.rejects(client.getPayment(id), { code: 'ECONNREFUSED' });
assert(isLoaded('https'));
console.log('consumer: done');
