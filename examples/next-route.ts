// Next.js, app/callbacks/route.ts: takes callbacks, and pays each order once.
import { createWebhookHandler, GatewayClient, isFinal, isPaid, memoryInbox } from 'payment-gateway-sdk';

// PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY and PAYMENT_GATEWAY_SIGN_KEY come from the environment.
const makeHandler = () =>
  createWebhookHandler({
    gateway: new GatewayClient(),
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

// Made by the first callback: `next build` loads this file where there may be no keys.
let handler: ReturnType<typeof makeHandler> | undefined;

// The SDK signs with node:crypto, so not the edge runtime.
export const runtime = 'nodejs';

export const POST = (request: Request) => {
  handler ??= makeHandler();
  return handler(request);
};
