// A merchant's Cloudflare Worker: creates a payment, and reads it.
import { GatewayClient } from 'payment-gateway-sdk';
import { request } from './merchant.mjs';

export default {
  async fetch({ url }) {
    const baseUrl = new URL(url).searchParams.get('gateway');
    const seen = [];
    try {
      const options = { apiKey: 'k', signKey: 'what', baseUrl };
      try {
        seen.push(new GatewayClient(options));
      } catch ({ name, message }) {
        seen.push(name, message);
      }
      const gateway = new GatewayClient({ ...options, fetch: (url, init) => fetch(url, init) });
      const { payment } = await gateway.createDeposit(request);
      seen.push(payment.id, (await gateway.getPayment(payment.id)).paymentStatus);
    } catch ({ message }) {
      seen.push(message);
    }
    return Response.json(seen);
  },
};
