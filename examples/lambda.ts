// AWS Lambda behind a function URL or an HTTP API: takes callbacks, and pays each order once.
import { createWebhookHandler, GatewayClient, isFinal, isPaid, memoryInbox } from 'payment-gateway-sdk';

// PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY and PAYMENT_GATEWAY_SIGN_KEY come from the environment.
const gateway = new GatewayClient();

const callbacks = createWebhookHandler({
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

/** The parts of an API Gateway event, payload version 2.0, that are needed here. */
interface HttpEvent {
  rawPath: string;
  headers: Record<string, string>;
  requestContext: { domainName: string; http: { method: string } };
  body?: string;
  isBase64Encoded: boolean;
}

export async function handler({ rawPath, headers, requestContext, body, isBase64Encoded }: HttpEvent) {
  const { domainName, http } = requestContext;
  const request = new Request(`https://${domainName}${rawPath}`, {
    method: http.method,
    headers,
    body: body === undefined ? null : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  });
  const response = await callbacks(request);
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
