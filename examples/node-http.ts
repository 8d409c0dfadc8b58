// Plain node:http: takes callbacks, and pays each order once.
import { createServer } from 'node:http';
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
const callbacks = toNodeHandler(handler);

const server = createServer((request, response) => {
  if (request.url === '/callbacks') callbacks(request, response);
  else response.writeHead(404).end();
});
server.listen(Number(process.env.PORT ?? 3000), () => console.log('Listening on', server.address()));
