// A merchant's callback handler, on any runtime; the gateway is played by a function.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';

const record = {
  id: '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10',
  paymentStatus: 'COMPLETED',
  paymentType: 'DEPOSIT',
  amount: 25.5,
  currency: 'EUR',
};

export const handler = createWebhookHandler({
  gateway: new GatewayClient({
    apiKey: 'k',
    signKey: 's',
    baseUrl: 'https://gateway.example',
    signCallbackUrls: true,
    fetch: async () => Response.json({ timestamp: 1, status: 200, result: record }),
  }),
  onPayment: () => {},
  onError: () => {},
});
