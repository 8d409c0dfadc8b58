// Fastify 5: takes callbacks, and pays each order once.
import Fastify from 'fastify';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, memoryInbox, toNodeHandler } from 'payment-gateway-sdk';

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

const app = Fastify();
app.register(async callbacks => {
  // The bytes as they came, for this route alone: `verify` would need them, and no parser stands in the way.
  callbacks.removeAllContentTypeParsers();
  callbacks.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  callbacks.post('/callbacks', toNodeHandler(handler));
});

await app.listen({ port: Number(process.env.PORT ?? 3000) });
console.log('Listening on', app.server.address());
