// An app that loads both copies of the SDK, as one does when a dependency is still CommonJS.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as esm from 'payment-gateway-sdk';

const cjs = createRequire(import.meta.url)('payment-gateway-sdk');
assert.notEqual(esm.InvalidRequestError, cjs.InvalidRequestError);
assert.deepEqual(Object.keys(esm).sort(), Object.keys(cjs).sort());
const error = new cjs.InvalidRequestError([]);
assert(!(error instanceof esm.InvalidRequestError) && esm.isGatewayError(error));
console.log('consumer: done');
