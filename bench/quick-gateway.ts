// A gateway in the same process that answers immediately, so that only the SDK and the database take time.
import { randomUUID } from 'node:crypto';
import type { ClientOptions, PaymentStatus } from 'payment-gateway-sdk';

/**
 * @param recordOf the record of a payment that was not created here
 * @param isKept whether lookups return created payments
 */
export function quickGateway(recordOf: (id: string) => object = () => ({}), isKept = true) {
  const made = new Map<string, object>();
  /** The status of every payment in a lookup. */
  let paymentStatus: PaymentStatus = 'PENDING';
  const fetch: NonNullable<ClientOptions['fetch']> = async (url, { method, body }) => {
    const id = method === 'POST' ? randomUUID() : url.slice(-36);
    const own = method === 'POST' ? JSON.parse(Buffer.from(body ?? []).toString()) : (made.get(id) ?? recordOf(id));
    if (method === 'POST' && isKept) made.set(id, own);
    const status = method === 'POST' ? 'PENDING' : paymentStatus;
    const redirectUrl = `https://pay.example/p/${id}`;
    return new Response(JSON.stringify({ paymentStatus: status, redirectUrl, ...own, id }));
  };
  const options = { baseUrl: 'http://127.0.0.1', apiKey: 'api-key', signKey: 'sign-key', fetch } as const;
  return {
    options: { ...options, webhookUrl: 'https://shop.example/callbacks' },
    show(status: PaymentStatus): void {
      paymentStatus = status;
    },
  };
}
