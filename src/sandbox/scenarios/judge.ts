// Compares a scenario's results with its expectations, and describes each difference in a sentence.
import { answerOf, type Delivery, isLost, isTaken } from '../callbacks/delivery.ts';
import type { SandboxEvent } from '../log/events.ts';
import type { Expectation, Expected } from './format.ts';

/** A posted callback, with the merchant's behaviour until its answer. */
export interface Witnessed {
  delivery: Delivery;
  /** True also after an edit by hand, and for a repetition of a forged one. */
  isForged: boolean;
  /** Whether a lookup of the merchant got the payment. */
  isLookedUp: boolean;
  /** Whether a lookup met a fault. */
  isHindered: boolean;
}

/** @param history a payment's events, in order of their ends */
export function witnessed(history: readonly SandboxEvent[]): Witnessed[] {
  let lookups: Extract<SandboxEvent, { type: 'request' }>[] = [];
  const forged = new Set<number>();
  return history.flatMap(event => {
    if (event.type === 'request' && event.method === 'GET') lookups.push(event);
    if (event.type !== 'callback') return [];
    const { delivery } = event;
    const { id, fault, isEdited = false, repeats = 0 } = delivery;
    const isForged = fault === 'callback-forge' || isEdited || forged.has(repeats);
    if (isForged) forged.add(id);
    const meanwhile = lookups.filter(({ at }) => at >= delivery.at);
    lookups = [];
    const isLookedUp = meanwhile.some(({ status }) => status === 200);
    const isHindered = meanwhile.some(({ fault }) => fault);
    return { delivery, isForged, isLookedUp, isHindered };
  });
}

/** @param where the part of the scenario, such as `steps[1] (move: complete)` */
export function judgeCallbacks(where: string, wanted: Expected['callbacks'], callbacks: readonly Witnessed[]) {
  if (wanted && wanted.length !== callbacks.length) {
    const came = callbacks.map(one => `${nameOf(one)} ${answerOf(one.delivery)}`);
    return [
      `${where}: expected [${wanted.join(', ')}], but got [${came.join(', ')}]. Expect one for each posted callback.`,
    ];
  }
  return callbacks.flatMap((witnessed, index) => {
    const expectation = wanted?.[index] ?? usual(witnessed);
    if (isMet(expectation, witnessed)) return [];
    const { delivery, isLookedUp } = witnessed;
    const unchecked = expectation === 'not-believed' && !isLookedUp ? ', and the payment was not looked up before' : '';
    const name = `callback ${index + 1} of ${callbacks.length} (${nameOf(witnessed)})`;
    const found = `expected ${expectation}, but it was ${answerOf(delivery)}${unchecked}`;
    return [`${where}, ${name}: ${found}. ${advice(expectation, delivery)}`];
  });
}

function usual({ delivery, isForged, isHindered }: Witnessed): Expectation {
  if (isLost(delivery)) return 'lost';
  if (isForged) return 'not-believed';
  return isHindered ? 'answered' : 'taken';
}

function isMet(expectation: Expectation, { delivery, isLookedUp }: Witnessed) {
  const { status } = delivery;
  if (typeof expectation === 'number') return status === expectation;
  const isAnswered = status !== undefined;
  return {
    lost: isLost(delivery),
    answered: isAnswered,
    taken: isTaken(delivery),
    refused: isAnswered && !isTaken(delivery),
    'not-believed': isAnswered && (!isTaken(delivery) || isLookedUp),
  }[expectation];
}

const nameOf = ({ isForged, delivery: { paymentStatus, repeats } }: Witnessed) =>
  [isForged && 'forged', paymentStatus, repeats && 'posted again'].filter(Boolean).join(' ');

const ADVICE: Readonly<Record<string, string>> = {
  taken: 'A server answers 2xx once a callback has taken effect: its log says why this one has not.',
  refused: 'A server must not answer 2xx to what has no effect: it would never come again.',
  'not-believed':
    'Look each payment up before you act on its callback, and act on the record: createWebhookHandler does.',
};

function advice(expectation: Expectation, { status }: Delivery) {
  if (status === undefined) return 'Is your server running, and is that the address of its callbacks?';
  if (status === 404 && expectation === 'taken') return 'Nothing takes callbacks there: is the path right?';
  return ADVICE[expectation] ?? "Your server's log says why.";
}
