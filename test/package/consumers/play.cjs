// A merchant's app in an empty project, with the modules of either build.
const assert = require('node:assert/strict');

module.exports = async ({ sdk, otel, mysql, postgres, sandbox: sandboxes, testing }) => {
  const { GatewayClient, isGatewayError, isPaid, memoryStore, parseWebhook, signBody } = sdk;
  const bodies = [];
  const sandbox = new sandboxes.Sandbox({
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
      getMeter: () => ({ createHistogram: instrument, createObservableGauge: instrument }),
    },
  });
  await gateway.getPayment(payment.id);
  stop();
  assert.deepEqual(spans, ['payment.lookup']);
  const error = await gateway.getPayment('nope').catch(error => error);
  assert(isGatewayError(error) && error.name === 'InvalidRequestError');
  // Each entry point of the CommonJS build has its own classes.
  assert.throws(() => postgres.postgresStore({}, { scope: 'eu' }), isGatewayError);
  assert.throws(() => postgres.postgresStore({}, { scope: 'eu', tablePrefix: 'a b' }), { code: 'configuration' });
  assert.throws(() => mysql.mysqlStore({}, { scope: 'eu', tablePrefix: 'a b' }), { code: 'configuration' });
  const tests = [];
  const test = (_name, run) => tests.push(run);
  testing.storeSuite({
    test,
    open(scope) {
      const store = memoryStore({ scope });
      return [store, store];
    },
  });
  assert(tests.length > 10);
  await Promise.all(tests.map(run => run()));
  await server.close();
  console.log('consumer: done');
};
