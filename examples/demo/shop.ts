// A merchant's callback server: it confirms each callback by a lookup, and applies each status once.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWebhookHandler, type Payment, toNodeHandler, type WebhookGateway } from 'payment-gateway-sdk';

export async function openShop(gateway: WebhookGateway) {
  const effects = new Map<string, PromiseWithResolvers<Payment>>();
  const effectOf = (paymentId: string, paymentStatus: string) => {
    const key = `${paymentId} ${paymentStatus}`;
    const known = effects.get(key) ?? Promise.withResolvers<Payment>();
    effects.set(key, known);
    return known;
  };

  const handler = createWebhookHandler({
    gateway,
    onPayment: payment => effectOf(payment.id, payment.paymentStatus).resolve(payment),
  });
  const server = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    callbackUrl: `http://127.0.0.1:${port}/callbacks`,
    /** The handler, for a sweep. */
    handler,
    /** Resolves with the gateway's own record, once a callback has applied this status of this payment. */
    effectOf: (paymentId: string, paymentStatus: string) => effectOf(paymentId, paymentStatus).promise,
    close: () => server.close(),
  };
}
