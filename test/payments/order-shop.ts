// A shop over the sandbox: it checks orders out, and its handler records what each function got.
import {
  type CallbackEvent,
  createWebhookHandler,
  GatewayClient,
  memoryStore,
  type Store,
  type WebhookHandlerOptions,
} from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { vi } from 'vitest';
import { whileTimePasses } from '../support/passing-time.ts';

export { CARD as CARD_ORDER } from '../support/fixtures.ts';

interface ShopOptions<Tx> {
  store?: Store<Tx>;
  functions?: Partial<WebhookHandlerOptions<Tx>>;
  /** Changes what the gateway answers. */
  answer?: (request: Request, response: Response) => Response | Promise<Response>;
  timeout?: number;
}

/** @returns the shop, and what its functions got, such as `onPaid order-1 order-1.1` */
export function openOrderShop<Tx = object>(options: ShopOptions<Tx> = {}) {
  const { store = memoryStore() as unknown as Store<Tx>, functions, answer, timeout = 30_000 } = options;
  const got: string[] = [];
  const events: CallbackEvent[] = [];
  const handled = (name: string) => (outcome: { order?: string | undefined; reference?: string | undefined }) =>
    void got.push([name, outcome.order, outcome.reference].filter(Boolean).join(' '));
  const sandbox: Sandbox = new Sandbox({ fetch: async (url, init) => handler(new Request(url, init as RequestInit)) });
  const fetch = async (...call: Parameters<typeof sandbox.fetch>) => {
    const response = await sandbox.fetch(...call);
    return answer ? answer(new Request(...call), response) : response;
  };
  const gateway = new GatewayClient({ ...sandbox.clientOptions, fetch, store, timeout, retries: 0 });
  const handler = createWebhookHandler<Tx>({
    gateway,
    onPaid: handled('onPaid'),
    onAuthorized: handled('onAuthorized'),
    onDeclined: handled('onDeclined'),
    onReversed: handled('onReversed'),
    onPaidOut: handled('onPaidOut'),
    onPayoutFailed: handled('onPayoutFailed'),
    onReview: ({ reason, reference }) => void got.push(`onReview ${reason} ${reference}`),
    onEvent: event => void events.push(event),
    ...functions,
  });
  /** Waits until every callback is answered. */
  const settled = async (move: Promise<unknown>) => {
    await move;
    await (vi.isFakeTimers() ? whileTimePasses(sandbox.idle(), 250) : sandbox.idle());
  };
  const idOf = (reference: string) => {
    const found = sandbox.payments.findLast(payment => payment.reference === reference);
    if (!found) throw new Error(`The gateway has no payment of ${reference}.`);
    return found.id;
  };
  return {
    sandbox,
    store,
    gateway,
    handler,
    got,
    events,
    pay: (reference: string) => settled(sandbox.complete(idOf(reference), { force: true })),
    decline: (reference: string) => settled(sandbox.fail(idOf(reference), { force: true })),
    idOf,
    references: () => sandbox.payments.map(({ reference }) => reference),
  };
}
