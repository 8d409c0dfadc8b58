// A payment to which nearly everything has happened, and the test that the sandbox writes of it.
import { GatewayClient } from 'payment-gateway-sdk';
import type { Sandbox } from 'payment-gateway-sdk/sandbox';
import { rightServer } from './scenarios.ts';

/** The test that is written of a payment. */
export const exported = async (sandbox: Sandbox, id: string) =>
  (await sandbox.fetch(`http://sandbox.localhost/_sandbox/payments/${id}/test`)).text();

const webhookUrl = 'https://shop.example/callbacks?token=secret-token';

/** A payment of a client of the sandbox. @returns its id */
export const create = async ({ clientOptions }: Sandbox, request: object = {}) => {
  const gateway = new GatewayClient(clientOptions);
  const fields = { paymentMethod: 'CARD', amount: 25.5, currency: 'EUR', webhookUrl, ...request };
  return (await gateway.createDeposit(fields as never)).payment.id;
};

/** A payment to which nearly everything has happened. */
export async function eventful() {
  const { sandbox, gateway } = rightServer({}, { apiKey: 'my-api-key', signKey: 'my-sign-key' });
  const id = await create(sandbox, {
    reference: 'order\'s \\ "1" \u2028 */',
    customer: { firstName: 'Zoë', lastName: null },
    additionalParameters: { __proto__: null, 'a-b': [1, true] },
  });
  sandbox.faults.next('callback-delay', { ms: 60_000 });
  await sandbox.authorize(id);
  sandbox.clock.advance(60_000);
  await sandbox.idle();
  sandbox.faults.next('callback-forge');
  sandbox.faults.next('commit-then-502', { on: 'lookup' });
  await sandbox.fail(id, { code: 4001 });
  await sandbox.idle();
  await sandbox.redeliver(1);
  await sandbox.redeliver(2, { body: 'not JSON' });
  await sandbox.complete(id, { force: true });
  await sandbox.idle();
  await gateway.getPayment(id);
  return { sandbox, id };
}
