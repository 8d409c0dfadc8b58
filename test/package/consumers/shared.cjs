// A CommonJS app that requires several entry points: what they share is there once.
const assert = require('node:assert/strict');
const sdk = require('payment-gateway-sdk');
const postgres = require('payment-gateway-sdk/postgres');
const mysql = require('payment-gateway-sdk/mysql');
const redis = require('payment-gateway-sdk/redis');
const { Sandbox } = require('payment-gateway-sdk/sandbox');
require('payment-gateway-sdk/testing');

const { ConfigurationError } = sdk;
assert.throws(() => new Sandbox({ baseUrl: 7 }), ConfigurationError);
assert.throws(() => postgres.postgresInbox({}, { table: 'a b' }), ConfigurationError);
assert.throws(() => mysql.mysqlInbox({}, { table: 'a b' }), ConfigurationError);
assert.throws(() => redis.redisInbox({}), ConfigurationError);

const definitions = Object.keys(require.cache)
  .map(path => require('node:fs').readFileSync(path, 'utf8'))
  .flatMap(code => [...code.matchAll(/^(?:var (\w+Error) = )?class (\w+Error)? ?extends/gm)])
  .map(([, bound, name]) => bound ?? name);
assert(definitions.length > 10);
assert.deepEqual(definitions, [...new Set(definitions)]);
console.log('consumer: done');
