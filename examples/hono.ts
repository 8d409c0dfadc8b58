// Hono, on Node here and as well on Bun: takes callbacks, and pays each order once.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, memoryInbox } from 'payment-gateway-sdk';

// PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY and PAYMENT_GATEWAY_SIGN_KEY come from the environment.
const gateway = new GatewayClient();

const handler = createWebhookHandler({
  gateway,
  inbox: memoryInbox(), // in production postgresInbox(pool), and write with its tx
  onPayment: async payment => {
    if (payment.paymentType === 'DEPOSIT' && isPaid(payment)) {
      console.log(`Order ${payment.reference} is paid.`);
    } else if (payment.paymentType === 'WITHDRAWAL' && isFinal(payment)) {
      console.log(`Payout ${payment.reference} is ${payment.paymentStatus}.`);
    }
  },
  onError: error => console.error(error),
});

const app = new Hono();
app.post('/callbacks', ({ req }) => handler(req.raw));

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, address => console.log('Listening on', address));
