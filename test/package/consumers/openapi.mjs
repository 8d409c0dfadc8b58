// Lints the description of the gateway that the tarball brings, by the strictest rules of a linter of others.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import description from 'payment-gateway-sdk/openapi.json' with { type: 'json' };

assert.equal(description.openapi, '3.1.0');
const config = await createConfig({
  extends: ['recommended-strict'],
  // Records have fields that the gateway's document does not name.
  rules: { 'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true } },
});
const ref = fileURLToPath(import.meta.resolve('payment-gateway-sdk/openapi.json'));
const problems = await lint({ ref, config });
assert.deepEqual(
  problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
  [],
);
console.log('consumer: done');
