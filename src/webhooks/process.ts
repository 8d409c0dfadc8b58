// What happens to a callback: read the claim → look the payment up → compare → journal → effect, once.
import { Buffer } from 'node:buffer';
import { withTimeout } from '../deadline.ts';
import { eventOf, type Inbox, type InboxResult } from '../inbox/contract.ts';
import { limit } from '../limit.ts';
import type { LookUp } from '../payments/lookup.ts';
import type { Payment } from '../schemas/payment.ts';
import { confirm, readClaim } from './confirm.ts';

/** What the handler needs of a `GatewayClient`. */
export interface WebhookGateway {
  getPayment: LookUp;
  /** Settles the journal's doubt of a confirmed payment, before its status takes effect. */
  reconcile?(payment: Payment): Promise<void>;
}

/** What processing a callback needs. */
export interface ProcessOptions<Context extends object> {
  gateway: WebhookGateway;
  inbox: Inbox<Context>;
  onPayment: (payment: Payment, context: Context) => unknown;
}

/** The ways in: a body as it came, one that a framework parsed, and a payment's id without any callback. */
export interface CallbackProcess {
  body(body: Uint8Array): Promise<InboxResult>;
  parsedBody(body: object): Promise<InboxResult>;
  payment(paymentId: string): Promise<InboxResult>;
}

/** Lookups at a time, and callbacks that may wait for a lookup. */
const LOOKUPS = 16;
const WAITING = 1000;

/** Milliseconds that one callback waits for another of the same payment before it is answered `busy`. */
const LONGEST_TURN = 5_000;

export function createProcess<Context extends object>(options: ProcessOptions<Context>): CallbackProcess {
  const { gateway, inbox, onPayment } = options;
  const limited = limit(LOOKUPS, WAITING);
  const lookUp: LookUp = (id, limits) => limited(() => gateway.getPayment(id, limits));
  const inTurn = takeTurns();
  const inFlight = new Map<string, Promise<InboxResult>>();

  const takeEffect = async (payment: Payment): Promise<InboxResult> => {
    await gateway.reconcile?.(payment);
    const event = eventOf(payment);
    return inTurn(event.paymentId, () => inbox.run(event, async context => onPayment(payment, context)));
  };

  const parsedBody = async (body: Uint8Array | object): Promise<InboxResult> => {
    const { payment } = await confirm(readClaim(body), lookUp);
    return takeEffect(payment);
  };

  return {
    parsedBody,
    /** Byte-identical callbacks in flight share one lookup, and one effect. */
    body(body) {
      const key = Buffer.from(body).toString('latin1');
      const shared = inFlight.get(key) ?? parsedBody(body).finally(() => inFlight.delete(key));
      inFlight.set(key, shared);
      return shared;
    },
    payment: async paymentId => takeEffect(await lookUp(paymentId)),
  };
}

/**
 * Within this process, callbacks of one payment take turns: of two at once, the second would find the inbox busy, and
 * the gateway documents no second delivery.
 */
function takeTurns() {
  const last = new Map<string, Promise<unknown>>();
  return (paymentId: string, work: () => Promise<InboxResult>): Promise<InboxResult> => {
    const before = last.get(paymentId);
    const turn = before ? before.then(work, work) : work();
    last.set(paymentId, turn);
    const leave = () => last.get(paymentId) === turn && last.delete(paymentId);
    turn.then(leave, leave);
    return before ? withTimeout(turn, LONGEST_TURN, () => 'busy') : turn;
  };
}
