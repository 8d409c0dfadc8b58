// A journal in the service of one client: its scope, its creates, and what settles its doubts.
import { InvalidRequestError } from '../errors.ts';
import { type EventListener, observe } from '../events.ts';
import { deadlineIn } from '../time.ts';
import { attemptOf, type Recordable, scopeOf } from './canonical.ts';
import { createOnce, type GuardedCreate, type GuardedResult, type Warn } from './create-once.ts';
import type { Doubt, Journal, JournalKey, JournalResult } from './journal.ts';
import { reconcile, settleWith, settleWithout } from './settle.ts';

type Sending = Pick<GuardedCreate, 'timeout' | 'signal' | 'send' | 'lookUp'>;

export class Guard {
  readonly #journal: Journal;
  readonly #scope: string;
  readonly #onEvent: EventListener | undefined;

  constructor(journal: Journal, baseUrl: string, onEvent: EventListener | undefined) {
    this.#journal = journal;
    this.#scope = journal.scope ?? scopeOf(baseUrl);
    this.#onEvent = onEvent;
  }

  /**
   * Sends a create with a reference at most once; one without is sent as it is.
   *
   * @throws {InvalidRequestError} for a withdrawal without a reference: nobody could tell whether it was paid
   */
  async create(creation: Recordable, body: Uint8Array, sending: Sending): Promise<GuardedResult> {
    const { reference, paymentType } = creation;
    if (reference) {
      const attempt = { ...this.#key(reference), ...attemptOf(creation, body) };
      return createOnce({ journal: this.#journal, attempt, ...sending, warn: this.#warner(reference) });
    }
    if (paymentType === 'WITHDRAWAL') throw new InvalidRequestError([NO_REFERENCE], 'not_sent');
    return { ...(await sending.send(deadlineIn(sending.timeout))), replayed: false };
  }

  /** Settles the doubt of a payment that a lookup has confirmed, if there is one. */
  async reconcile(result: JournalResult): Promise<void> {
    const { reference } = result.payment;
    // A NUL, which no journal in Postgres can hold, is in no reference that it has.
    if (reference && !reference.includes('\0'))
      await reconcile(this.#journal, this.#key(reference), result, this.#warner(reference));
  }

  /** The doubts of this client's own scope. */
  async inDoubt(): Promise<Doubt[]> {
    const doubts = await this.#journal.inDoubt();
    return doubts.filter(({ scope }) => scope === this.#scope);
  }

  /**
   * Settles a doubt by an operator's word.
   *
   * @param exists looks a payment up that was only suspected
   */
  async settle(
    reference: string,
    word: JournalResult | 'not_created',
    exists: (paymentId: string) => Promise<boolean>,
  ): Promise<void> {
    const key = this.#key(reference);
    await (word === 'not_created'
      ? settleWithout(this.#journal, key, exists)
      : settleWith(this.#journal, key, word, exists));
  }

  #key(reference: string): JournalKey {
    return { scope: this.#scope, reference };
  }

  #warner(reference: string): Warn {
    return (code, message, paymentId) =>
      observe(this.#onEvent, { operation: 'create', reference, paymentId, type: 'warning', code, message });
  }
}

const NO_REFERENCE = {
  path: 'reference',
  message: 'is needed with a journal: without one, nobody could tell whether the withdrawal was paid',
};
