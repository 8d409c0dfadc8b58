// Waits until a payment matches a test's expectation.
import { withTimeout } from '../../deadline.ts';
import { flag, milliseconds, oneOf, optionsReader, text } from '../../options/reader.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../schemas/methods.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import { answerOf, type Delivery, isTaken } from '../callbacks/delivery.ts';
import { matcherOf } from '../ledger/query.ts';
import type { PaymentRecord } from '../ledger/record.ts';
import type { Log } from '../log/log.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';

/** The expected payment: its id or reference, and its state. */
export interface WaitFor {
  paymentId?: string | undefined;
  /** Selects the newest payment with this reference. */
  reference?: string | undefined;
  paymentStatus?: PaymentStatus | undefined;
  /** Whether the callback of its state must have a 2xx answer. */
  isAnswered?: boolean | undefined;
  /**
   * Milliseconds of real time.
   * @default 30000
   */
  timeout?: number | undefined;
}

/** The fields of a wait, also for the JSON API. */
export const waitFields = {
  paymentId: text.optional(),
  reference: text.optional().describe('The newest payment with this reference.'),
  paymentStatus: oneOf(PAYMENT_STATUSES).optional(),
  isAnswered: flag.optional(),
  timeout: milliseconds.default(30_000),
};

const readFields = optionsReader<WaitFor>()('sandbox.waitFor', waitFields);

export async function waitFor({ ledger, log, callbacks }: Parts, what: WaitFor): Promise<PaymentRecord> {
  const { timeout, ...wanted } = readFields(what);
  if (wanted.paymentId === undefined && wanted.reference === undefined) {
    throw new SandboxError('refused', 'Say which payment to wait for: pass its id or reference.');
  }
  const find = () =>
    wanted.paymentId === undefined ? ledger.search({ reference: wanted.reference })[0] : ledger.find(wanted.paymentId);
  const { promise, resolve } = Promise.withResolvers<PaymentRecord>();
  const look = () => {
    const record = find();
    if (record && isAsWanted(record, wanted, log)) resolve(record);
  };
  const unsubscribe = log.subscribe(look);
  look();
  const late = () => {
    throw new SandboxError('timeout', `Not reached within ${timeout} ms: ${storyOf(find(), log, callbacks)}`);
  };
  return withTimeout(promise, timeout, late).finally(unsubscribe);
}

function isAsWanted(record: PaymentRecord, { isAnswered, ...query }: WaitFor, log: Log): boolean {
  const isWanted = (delivery: Delivery) =>
    delivery.paymentStatus === record.paymentStatus && isTaken(delivery) && delivery.fault !== 'callback-forge';
  return matcherOf(query)(record) && (!isAnswered || log.deliveriesOf(record.id).some(isWanted));
}

function storyOf(record: PaymentRecord | undefined, log: Log, { waiting }: Callbacks): string {
  if (!record) return 'the sandbox has no such payment.';
  const [latest] = log.deliveriesOf(record.id);
  const held = waiting.find(({ callback }) => callback.paymentId === record.id);
  const until = held?.due === undefined ? 'for the next one' : `until ${new Date(held.due).toISOString()}`;
  const none = held ? `its callback waits ${until}` : 'it has no callback';
  const answer = latest ? `its latest callback was ${answerOf(latest)}` : none;
  return `payment ${record.id} is ${record.paymentStatus}, and ${answer}.`;
}
