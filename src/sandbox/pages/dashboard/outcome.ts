// Describes the outcome of a call or a callback, in a word and in a sentence.
import { type Delivery, isLost, isTaken } from '../../callbacks/delivery.ts';
import { spanOf } from '../../duration.ts';
import type { Call } from '../../events.ts';
import type { Tone } from '../layout.ts';

export interface Outcome {
  tone: Tone;
  /** One or two words. */
  label: string;
  /** The meaning. Absent if the label is enough. */
  sentence?: string | undefined;
}

type Ended = Pick<Call, 'durationMs' | 'message'> & { status?: number | undefined; isCut?: boolean; fault?: unknown };

export function outcomeOfCall({ status, isCut, durationMs, message: sentence, fault }: Ended): Outcome {
  if (status === undefined && durationMs === undefined) return { tone: 'wait', label: 'running' };
  if (status === undefined) {
    const why = fault ? 'a fault broke the connection' : 'the caller went away before there was one';
    return { tone: 'bad', label: 'no answer', sentence: `No answer was sent: ${why}.` };
  }
  if (isCut)
    return { tone: 'bad', label: `${status}, cut`, sentence: 'The connection broke in the middle of the answer.' };
  return { tone: status < 300 ? 'good' : 'bad', label: String(status), sentence };
}

/** The codes of a fetch without a server. */
const NOBODY = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/;

export function outcomeOfDelivery(delivery: Delivery): Outcome {
  const { status, error, durationMs = 0 } = delivery;
  if (isLost(delivery)) {
    return { tone: 'bad', label: 'lost', sentence: 'It was never posted: a fault lost it. Redeliver it to post it.' };
  }
  if (error !== undefined) {
    const hint = NOBODY.test(error) ? ' Nobody listens there: start your app, then redeliver it.' : '';
    const label = error.startsWith('not posted') ? 'not posted' : 'no answer';
    const sentence = error.charAt(0).toUpperCase() + error.slice(1).replace(/[^.!?]$/, '$&.');
    return { tone: 'bad', label, sentence: sentence + hint };
  }
  if (status === undefined) return { tone: 'wait', label: 'running', sentence: 'Your app has not answered yet.' };
  const isGood = isTaken(delivery);
  const why = status >= 300 && status < 400 ? ', and a callback follows no redirect' : '';
  const sentence = `Your app ${isGood ? 'took' : 'did not take'} it: ${status} after ${spanOf(durationMs)}${why}.`;
  return { tone: isGood ? 'good' : 'bad', label: String(status), sentence };
}

/** Describes a callback that waits. */
export const waitingLabel = ({ due, fault }: { due?: number | undefined; fault?: unknown }): string =>
  due === undefined ? 'held back' : fault ? 'delayed' : 'retry due';
