// Waits until a payment matches a test's expectation.
import { withTimeout } from '../../deadline.ts';
import { flag, milliseconds, oneOf, optionsReader, text } from '../../option-reader.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../schemas/methods.ts';
import { answerOf, isTaken } from '../callbacks/delivery.ts';
import { matcherOf } from '../ledger/query.ts';
import type { PaymentRecord } from '../ledger/record.ts';
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
  /** Milliseconds of real time. @default 30000 */
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

export async function waitFor(parts: Parts, what: WaitFor) {
  const { timeout, isAnswered, ...query } = readFields(what);
  const { paymentId, reference } = query;
  if (paymentId === undefined && reference === undefined) {
    throw new SandboxError('refused', 'Say which payment to wait for: pass its id or reference.');
  }
  const { ledger, log } = parts;
  const find = () => (paymentId === undefined ? ledger.search({ reference })[0] : ledger.find(paymentId));
  const isWanted = matcherOf(query);
  const hasAnswer = ({ id, paymentStatus: state }: PaymentRecord) =>
    log.deliveriesOf(id).some(one => one.paymentStatus === state && isTaken(one) && one.fault !== 'callback-forge');
  const { promise, resolve } = Promise.withResolvers<PaymentRecord>();
  const look = () => {
    const record = find();
    if (record && isWanted(record) && (!isAnswered || hasAnswer(record))) resolve(record);
  };
  const unsubscribe = log.subscribe(look);
  look();
  return withTimeout(promise, timeout, () => {
    throw new SandboxError('timeout', `Not reached within ${timeout} ms: ${storyOf(find(), parts)}`);
  }).finally(unsubscribe);
}

function storyOf(record: PaymentRecord | undefined, { log, callbacks }: Parts) {
  if (!record) return 'the sandbox has no such payment.';
  const { id, paymentStatus } = record;
  const held = callbacks.waiting.find(({ callback }) => callback.paymentId === id);
  const until = held?.due === undefined ? 'for the next one' : `until ${new Date(held.due).toISOString()}`;
  const none = held ? `its callback waits ${until}` : 'it has no callback';
  const [latest] = log.deliveriesOf(id);
  return `payment ${id} is ${paymentStatus}, and ${latest ? `its latest callback was ${answerOf(latest)}` : none}.`;
}
