// Applies a payment's status once: first the journal, then the inbox with onPayment, then the work after the commit.
import { delay, withTimeout } from '../deadline.ts';
import { WebhookError } from '../errors.ts';
import { eventOf, type Inbox, type InboxEvent, type Processed } from '../inbox/contract.ts';
import { remembering } from '../inbox/thrown.ts';
import { LAG_PAUSES } from '../payments/lookup.ts';
import { isFinalStatus } from '../schemas/methods.ts';
import type { Payment } from '../schemas/payment.ts';
import { rawStatusOf } from '../schemas/payment-status.ts';
import { type CallbackWarningCode, notify } from '../telemetry/events.ts';
import type { ClaimDigest } from './claim.ts';

/** The context of `onPayment`, in addition to the inbox's own. */
export interface CallbackContext {
  /**
   * Runs a function at most once, after the commit of the effect and its mark. Use it for e-mails and the like, because
   * `onPayment` may run again after a rollback. If it fails, only `onError` gets the error.
   */
  afterCommit(work: () => unknown): void;
}

/** Warns the merchant of a case for an operator. */
export type Warn = (about: About, code: CallbackWarningCode, message: string) => void;

interface About {
  paymentId: string;
  callId: string;
}

export interface EffectSettings<Context extends object> {
  reconcile: (payment: Payment) => Promise<void>;
  acknowledge: (payment: Payment) => Promise<void>;
  inbox: Inbox<Context>;
  onPayment: (payment: Payment, context: Context & CallbackContext) => unknown;
  /** Gets the error of a function that waited for the commit. */
  onAfterCommitError: (error: unknown) => unknown;
  warn: Warn;
}

/** Milliseconds within which a callback is answered. */
const LONGEST_AFTER_COMMIT = 25_000;

/** Runs of an event in the inbox, at most: another final status may be marked in between. */
const MOST_CONFLICTS = 3;

export function createEffect<Context extends object>(settings: EffectSettings<Context>) {
  const { reconcile, acknowledge, inbox, onPayment, onAfterCommitError, warn } = settings;

  /** @returns the inbox's answer, and the functions that wait for the commit */
  const runOnce = async (event: InboxEvent, payment: Payment) => {
    let afterCommit: (() => unknown)[] = [];
    const answer = await inbox.run(event, async context => {
      // The inbox may run the work again after a rollback.
      const own = worksAfterCommit();
      afterCommit = own.works;
      try {
        await remembering(() => onPayment(payment, { ...context, afterCommit: own.add }));
      } finally {
        own.close();
      }
    });
    return { answer, afterCommit: answer === 'ran' ? afterCommit : [] };
  };

  /** Runs the functions in order. An endless one goes on alone, and does not block the payment's next status. */
  const runAfterCommit = async (works: (() => unknown)[], about: About) => {
    for (const work of works) {
      try {
        const working = (async () => work())();
        await withTimeout(working, LONGEST_AFTER_COMMIT, `It did not end within ${LONGEST_AFTER_COMMIT} ms.`);
      } catch (error) {
        const message = `What onPayment passed to afterCommit failed, and is not repeated: payment ${about.paymentId}.`;
        warn(about, 'after_commit_failed', message);
        notify(onAfterCommitError, error);
      }
    }
  };

  return {
    /**
     * Takes the payment to the inbox. If another final status is marked there, the payment may have moved since its
     * lookup. Then it is looked up again, outside any transaction.
     *
     * @param callId the id of the running callback
     * @throws {WebhookError} `effect_uncertain`
     * @throws any error of the journal, the inbox, `onPayment` or the lookup
     */
    async takeEffect(found: Payment, callId: string, lookAgain: () => Promise<Payment>): Promise<Processed> {
      let payment = found;
      let event = eventOf(payment);
      for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
        await reconcile(payment);
        const { answer, afterCommit } = await runOnce(event, payment);
        const { paymentId, status } = event;
        if (typeof answer === 'string') {
          // If this fails, a sweep checks the payment once more.
          if (answer !== 'busy') await acknowledge(payment).catch(() => {});
          if (answer === 'ran' && payment.paymentStatus === 'UNKNOWN')
            warn({ paymentId, callId }, 'unknown_status', unknownStatus(payment));
          await runAfterCommit(afterCommit, { paymentId, callId });
          return { result: answer, payment };
        }
        if (answer.some(mark => mark.begun && mark.status === status)) {
          const error = uncertain(event);
          warn({ paymentId, callId }, 'effect_uncertain', error.message);
          throw error;
        }
        // The record may lag behind.
        await delay(LAG_PAUSES[0]);
        payment = await lookAgain();
        event = { ...eventOf(payment), seen: answer };
      }
      return { result: 'busy', payment };
    },

    /** Checks whether the claimed status has taken effect, with an effect that undoes itself. */
    async isMarked({ paymentId, mark: status = '' }: ClaimDigest): Promise<boolean> {
      const undo = async () => {
        throw new Error('Only the mark was asked for.');
      };
      return inbox.run({ paymentId, status, final: isFinalStatus(status) }, undo).then(
        answer => answer === 'already',
        () => false,
      );
    },
  };
}

/** Collects the functions that `onPayment` leaves for after the commit. */
function worksAfterCommit() {
  const works: (() => unknown)[] = [];
  let isClosed = false;
  const add = (work: () => unknown): void => {
    if (isClosed) throw new Error('afterCommit was called after onPayment has returned: await what calls it.');
    if (typeof work !== 'function')
      throw new TypeError('afterCommit takes a function: afterCommit(() => sendReceipt()).');
    works.push(work);
  };
  const close = () => {
    isClosed = true;
  };
  return { works, add, close };
}

const unknownStatus = (payment: Payment): string =>
  `Payment ${payment.id} has the status ${rawStatusOf(payment)}, which the gateway's document does not name: onPayment got it as UNKNOWN. Ask the gateway what it means for the money.`;

function uncertain({ paymentId, status }: InboxEvent): WebhookError {
  const call = `inbox.resolve('${paymentId}', '${status}', 'done' or 'again')`;
  const message = `The effect of ${status} on payment ${paymentId} has begun, and something other than the inbox ended its transaction: nobody knows how much of it was done. Look, then call ${call}.`;
  return new WebhookError('effect_uncertain', message, [], { paymentId });
}
