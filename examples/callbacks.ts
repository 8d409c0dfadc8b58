// The handler that every example serves: takes callbacks, and pays each order once. Copy it beside the one you need.
import { createWebhookHandler, GatewayClient, isFinal, isPaid, memoryInbox } from 'payment-gateway-sdk';

export const openCallbacks = () =>
  createWebhookHandler({
    // PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY and PAYMENT_GATEWAY_SIGN_KEY come from the environment.
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
