// A webhook handler over a gateway that knows one payment, and what it did.
import {
  type CallbackEvent,
  createWebhookHandler,
  type Payment,
  type WebhookHandlerOptions,
} from 'payment-gateway-sdk';
import { record } from './fixtures.ts';

/** What the gateway posts for a card payment that is completed. */
export const callback = record('completed CARD callback');
/** The same as a record. */
export const completed: Payment = JSON.parse(callback);

/** The record in another status, as the SDK reads it. */
export function as(status: string): Payment {
  const known = ['PENDING', 'AUTHORIZED', 'COMPLETED', 'FAILED', 'CANCELED'].includes(status);
  const fields = known ? { paymentStatus: status } : { paymentStatus: 'UNKNOWN', rawPaymentStatus: status };
  return { ...completed, ...fields } as Payment;
}

/** As the SDK's other copy throws it. */
export const notFound = async (): Promise<Payment> => {
  const foreign = Object.assign(new Error('not found'), { name: 'PaymentNotFoundError' });
  throw Object.defineProperty(foreign, Symbol.for('payment-gateway-sdk.error'), { value: true });
};

type Body = NonNullable<RequestInit['body']>;

export const post = (body: Body | null, headers: Record<string, string> = {}, url = 'https://shop.example/callbacks') =>
  new Request(url, { method: 'POST', body, headers, duplex: 'half' } as RequestInit);

/** A callback that claims a status. */
export const claiming = (paymentStatus: string) => post(JSON.stringify({ ...completed, paymentStatus }));

/** What became of callbacks, in order. */
export const resultsOf = (events: CallbackEvent[]) =>
  events.flatMap(event => (event.type === 'callback' ? [event.result] : []));

export const warningsOf = (events: CallbackEvent[]) => events.filter(event => event.type === 'warning');

/** @param lookUp the gateway */
export function openShop(
  options: Partial<WebhookHandlerOptions> = {},
  lookUp: (id: string) => Promise<Payment> = async () => completed,
) {
  const lookups: string[] = [];
  const effects: Payment[] = [];
  const errors: unknown[] = [];
  const events: CallbackEvent[] = [];
  const handler = createWebhookHandler({
    gateway: {
      getPayment: async id => {
        lookups.push(id);
        return lookUp(id);
      },
    },
    onPayment: payment => void effects.push(payment),
    onError: error => void errors.push(error),
    onEvent: event => void events.push(event),
    ...options,
  });
  const reply = async (request: Request) => {
    const response = await handler(request);
    return `${response.status} ${await response.text()}`;
  };
  return { handler, reply, lookups, effects, errors, events };
}
