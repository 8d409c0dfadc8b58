// A merchant's CommonJS app in an empty project.
const assert = require('node:assert/strict');
const {
  GatewayClient,
  isGatewayError,
  isPaid,
  memoryInbox,
  memoryJournal,
  parseWebhook,
  signBody,
} = require('payment-gateway-sdk');
const otel = require('payment-gateway-sdk/otel');
const { mysqlInbox, mysqlJournal } = require('payment-gateway-sdk/mysql');
const { postgresInbox, postgresJournal } = require('payment-gateway-sdk/postgres');
const { Sandbox } = require('payment-gateway-sdk/sandbox');
const { inboxSuite, journalSuite } = require('payment-gateway-sdk/testing');

async function main() {
  const bodies = [];
  const sandbox = new Sandbox({
    fetch: async (_url, init) => {
      bodies.push(init.body);
      return new Response();
    },
  });
  const server = await sandbox.listen();
  const gateway = new GatewayClient({ ...sandbox.clientOptions, baseUrl: server.url, fetch: undefined });
  const { payment, nextAction } = await gateway.createDeposit({
    paymentMethod: 'CARD',
    amount: '25.50',
    currency: 'EUR',
    webhookUrl: 'https://shop.example/callbacks',
  });
  assert.equal(nextAction.type, 'redirect');
  await sandbox.complete(payment.id);
  await sandbox.idle();
  assert.equal(parseWebhook(bodies[0]).paymentStatus, 'COMPLETED');
  assert(isPaid(await gateway.getPayment(payment.id)));
  assert.equal(
    signBody('what do ya want for nothing?', 'Jefe'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
  const spans = [];
  const instrument = () => ({ record() {}, add() {}, addCallback() {}, removeCallback() {} });
  const stop = otel.instrument({
    trace: {
      getTracer: () => ({ startSpan: name => ({ setAttributes() {}, setStatus() {}, end: () => spans.push(name) }) }),
      setSpan: context => context,
    },
    context: { active: () => ({}), with: (_context, work) => work() },
    metrics: {
      getMeter: () => ({ createHistogram: instrument, createCounter: instrument, createObservableGauge: instrument }),
    },
  });
  await gateway.getPayment(payment.id);
  stop();
  assert.deepEqual(spans, ['payment.lookup']);
  const error = await gateway.getPayment('nope').catch(error => error);
  assert(isGatewayError(error) && error.name === 'InvalidRequestError');
  // Each entry point of the CommonJS build has its own classes.
  assert.throws(() => postgresInbox({}), isGatewayError);
  assert.throws(() => postgresJournal({}, { table: 'a b' }), { code: 'configuration' });
  assert.throws(() => mysqlInbox({}), { code: 'configuration' });
  assert.throws(() => mysqlJournal({}, { table: 'a b' }), { code: 'configuration' });
  const tests = [];
  const test = (_name, run) => tests.push(run);
  const [journal, inbox] = [memoryJournal(), memoryInbox()];
  journalSuite({ test, make: () => [journal, journal] });
  inboxSuite({ test, make: () => [inbox, inbox] });
  assert(tests.length > 15);
  for (const run of tests) await run();
  await server.close();
  console.log('consumer: done');
}

main().catch(error => {
  console.error(error);
  process.exitCode = 1;
});
