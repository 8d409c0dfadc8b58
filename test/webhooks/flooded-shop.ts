// A shop in a separate process with little memory, over a slow gateway.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createWebhookHandler, type Payment, toNodeHandler } from '../../src/index.ts';

const handler = createWebhookHandler({
  gateway: {
    getPayment: async id => {
      await delay(300);
      return { id, paymentStatus: 'COMPLETED', paymentType: 'DEPOSIT', amount: 1, currency: 'EUR' } as Payment;
    },
  },
  onPayment: () => {},
  onError: () => {},
});
const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
