// A merchant's callback server: takes each callback as a hint, and believes only the lookup.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type GatewayClient, isGatewayError, type Payment, parseWebhook } from 'payment-gateway-sdk';

/** What a callback claimed, and what the lookup said. */
export interface News {
  claim: Payment;
  payment: Payment;
}

export async function openShop(gateway: GatewayClient<'onramp'>) {
  const news = new Map<string, PromiseWithResolvers<News>>();
  const newsOf = (paymentId: string, paymentStatus: string) => {
    const key = `${paymentId} ${paymentStatus}`;
    const known = news.get(key) ?? Promise.withResolvers<News>();
    news.set(key, known);
    return known;
  };

  const server = createServer(async (request, response) => {
    try {
      const claim = parseWebhook(await text(request));
      const payment = await gateway.getPayment(claim.id);
      newsOf(claim.id, claim.paymentStatus).resolve({ claim, payment });
      response.writeHead(200).end();
    } catch (error) {
      response.writeHead(isGatewayError(error) && error.name === 'WebhookError' ? 400 : 503).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    callbackUrl: `http://127.0.0.1:${port}/callbacks`,
    /** Resolves once a callback has told this status of this payment, and the payment was looked up. */
    newsOf: (paymentId: string, paymentStatus: string) => newsOf(paymentId, paymentStatus).promise,
    close: () => server.close(),
  };
}
