// A CommonJS app that requires several entry points: what they share is there once.
const assert = require('node:assert/strict');
const sdk = require('payment-gateway-sdk');
const postgres = require('payment-gateway-sdk/postgres');
const mysql = require('payment-gateway-sdk/mysql');
const { Sandbox } = require('payment-gateway-sdk/sandbox');
require('payment-gateway-sdk/testing');

const { ConfigurationError } = sdk;
assert.throws(() => new Sandbox({ baseUrl: 7 }), ConfigurationError);
assert.throws(() => postgres.postgresInbox({}, { table: 'a b' }), ConfigurationError);
assert.throws(() => mysql.mysqlInbox({}, { table: 'a b' }), ConfigurationError);

/** What has been required, as text. */
const codes = () => Object.keys(require.cache).map(path => require('node:fs').readFileSync(path, 'utf8'));

const definitions = codes()
  .flatMap(code => [...code.matchAll(/^(?:var (\w+Error) = )?class (\w+Error)? ?extends/gm)])
  .map(([, bound, name]) => bound ?? name);
assert(definitions.length > 10);
assert.deepEqual(definitions, [...new Set(definitions)]);

async function main() {
  const gateway = new sdk.GatewayClient(new Sandbox().clientOptions);
  // The first call loads ky.
  const webhookUrl = 'https://shop.example/callbacks';
  await gateway.createDeposit({ paymentMethod: 'CARD', amount: '1', currency: 'EUR', webhookUrl });
  const copiesOf = definition => codes().filter(code => definition.test(code)).length;
  assert.equal(copiesOf(/^ky\/distribution\//m), 1);
  assert.equal(copiesOf(/^var GatewayClient = class/m), 1);
  console.log('consumer: done');
}
main();
