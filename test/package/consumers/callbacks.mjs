// A merchant's callback handler, on any runtime; the gateway is played by a function.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { record } from './merchant.mjs';

const result = { ...record, paymentStatus: 'COMPLETED' };

export const handler = createWebhookHandler({
  gateway: new GatewayClient({
    apiKey: 'k',
    signKey: 's',
    baseUrl: 'https://gateway.example',
    signCallbackUrls: true,
    fetch: async () => Response.json({ timestamp: 1, status: 200, result }),
  }),
  onPayment: () => {},
  onError: () => {},
});
