// A shop over real HTTP, with all its payment code: a client over a store, and the one handler of all callbacks.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type ClientOptions,
  createWebhookHandler,
  GatewayClient,
  memoryStore,
  toNodeHandler,
} from 'payment-gateway-sdk';

/** @param ran reports each function that the handler runs */
export async function openShop(options: ClientOptions<'standard'>, ran: (call: string) => void) {
  const server = createServer((request, response) => callbacks(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const webhookUrl = `http://127.0.0.1:${port}/callbacks`;

  const paid = new Set<string>();
  /** The payout that an order owes once it is paid. */
  const owed = new Map<string, string>();

  const store = memoryStore({ scope: 'demo' }); // in production postgresStore(pool, { scope }) or mysqlStore
  const gateway = new GatewayClient({ ...options, store, webhookUrl });
  const handler = createWebhookHandler({
    gateway,
    onPaid: async ({ order = '' }, { tx }) => {
      paid.add(order);
      ran(`onPaid(${order})`);
      const reference = owed.get(order);
      if (!reference) return;
      await gateway.payOut(tx, { reference, paymentMethod: 'SEPA', amount: '15.30', currency: 'EUR' });
      ran(`gateway.payOut(tx, ${reference})`);
    },
    onDeclined: ({ order }) => ran(`onDeclined(${order})`),
    onReversed: ({ order = '' }) => {
      paid.delete(order);
      ran(`onReversed(${order})`);
    },
    onPaidOut: ({ reference }) => ran(`onPaidOut(${reference})`),
    onPayoutFailed: ({ reference, wasPaidOut }) => ran(`onPayoutFailed(${reference}, wasPaidOut: ${wasPaidOut})`),
    onReview: ({ reference, reason }) => ran(`onReview(${reference}, ${reason})`),
    onEvent: () => {}, // instead of a warning for each review: the scenes show them
    onError: () => {}, // the answer of the callback shows it
  });
  const callbacks: ReturnType<typeof toNodeHandler> = toNodeHandler(handler);

  return { gateway, handler, webhookUrl, paid, owed, close: () => server.close() };
}
