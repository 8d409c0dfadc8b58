// A webhook handler over a gateway with one payment, and records of its calls.
import {
  type CallbackEvent,
  createWebhookHandler,
  memoryStore,
  type Payment,
  type Store,
  type WebhookHandlerOptions,
} from 'payment-gateway-sdk';
import { HANDLER } from '../../src/upkeep/handler-link.ts';
import { CLIENT, type ClientLink } from '../../src/webhooks/client-link.ts';
import { record } from '../support/fixtures.ts';

/** The gateway's callback for a completed card payment. */
export const callback = record('completed CARD callback');
/** The same as a record. */
export const completed: Payment = JSON.parse(callback);

/** The record in another status, as the SDK reads it. */
export function as(status: string): Payment {
  const known = ['PENDING', 'AUTHORIZED', 'COMPLETED', 'FAILED', 'CANCELED'].includes(status);
  const fields = known ? { paymentStatus: status } : { paymentStatus: 'UNKNOWN', rawPaymentStatus: status };
  return { ...completed, ...fields } as Payment;
}

/** Throws the error of another copy of the SDK. */
export const notFound = async (): Promise<Payment> => {
  const foreign = Object.assign(new Error('not found'), { name: 'PaymentNotFoundError' });
  throw Object.defineProperty(foreign, Symbol.for('payment-gateway-sdk.error'), { value: true });
};

type Body = NonNullable<RequestInit['body']>;

export const post = (body: Body | null, headers: Record<string, string> = {}, url = 'https://shop.example/callbacks') =>
  new Request(url, { method: 'POST', body, headers, duplex: 'half' } as RequestInit);

/** A callback that claims a status. */
export const claiming = (paymentStatus: string) => post(JSON.stringify({ ...completed, paymentStatus }));

/** The results of callbacks in order. */
export const resultsOf = (events: CallbackEvent[]) =>
  events.flatMap(event => (event.type === 'callback' ? [event.result] : []));

export const warningsOf = (events: CallbackEvent[]) => events.filter(event => event.type === 'warning');

/** The address of a callback with a token that {@link signing} accepts. */
export const SIGNED = 'https://shop.example/?signed';

const link: ClientLink = {
  store: undefined,
  tokens: { check: () => undefined, isOf: () => true },
  signCallbackUrls: false,
  reconcile: async () => undefined,
};

/** A gateway with a part of a client's link, which a handler finds. */
export const linked = (part: Partial<ClientLink>, getPayment = async (_id: string) => completed) => ({
  getPayment,
  [CLIENT]: { ...link, ...part },
});

/** A gateway whose good token is `?signed`. */
export const signing = (getPayment?: (id: string) => Promise<Payment>) =>
  linked({ tokens: { ...link.tokens, check: url => (url === SIGNED ? 'token' : undefined) } }, getPayment);

/** A store with other methods. */
export const storeWith = (methods: Partial<Store>): Store => ({ ...(memoryStore() as Store), ...methods });

/** @param lookUp the gateway */
export function openShop(
  options: Partial<WebhookHandlerOptions> = {},
  lookUp: (id: string) => Promise<Payment> = async () => completed,
) {
  const lookups: string[] = [];
  const effects: Payment[] = [];
  const errors: unknown[] = [];
  const events: CallbackEvent[] = [];
  const { gateway = { getPayment: lookUp }, ...rest } = options;
  const handler = createWebhookHandler({
    gateway: {
      [CLIENT]: gateway[CLIENT],
      getPayment: async (id, limits) => {
        lookups.push(id);
        return gateway.getPayment(id, limits);
      },
    },
    onPayment: payment => void effects.push(payment),
    onError: error => void errors.push(error),
    onEvent: event => void events.push(event),
    ...rest,
  });
  const reply = async (request: Request) => {
    const response = await handler(request);
    return `${response.status} ${await response.text()}`;
  };
  /** Processes a payment without a callback, as upkeep does. */
  const process = (id: string, limits: { signal?: AbortSignal; timeout?: number } = {}) =>
    handler[HANDLER].process(id, { timeout: 60_000, ...limits });
  return { handler, reply, process, lookups, effects, errors, events };
}
