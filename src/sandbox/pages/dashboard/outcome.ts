// Describes the outcome of a call or a callback, in a word and in a sentence.
import { html } from 'hono/html';
import type { WaitingCallback } from '../../callbacks/callbacks.ts';
import type { Delivery } from '../../callbacks/delivery.ts';
import type { Call } from '../../events.ts';
import type { Html } from '../layout.ts';
import { spanOf } from './time.ts';

export interface Outcome {
  tone: 'good' | 'bad' | 'wait';
  /** One or two words. */
  label: string;
  /** The meaning. Absent if the label is enough. */
  sentence?: string;
}

export const pill = ({ tone, label }: Outcome): Html => html`<span class="pill ${tone}">${label}</span>`;

export function outcomeOfCall({ answer, durationMs, message, fault }: Call): Outcome {
  if (answer) {
    const { status, isCut } = answer;
    const tone = status < 300 && !isCut ? 'good' : 'bad';
    if (isCut) return { tone, label: `${status}, cut`, sentence: 'The connection broke in the middle of the answer.' };
    return { tone, label: String(status), ...(message && { sentence: message }) };
  }
  if (durationMs === undefined) return { tone: 'wait', label: 'under way' };
  const sentence = fault
    ? 'No answer was sent: a fault broke the connection.'
    : 'No answer was sent: the caller went away before there was one.';
  return { tone: 'bad', label: 'no answer', sentence };
}

/** The codes of a fetch without a server. */
const NOBODY = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/;

export function outcomeOfDelivery({ status, error, fault, durationMs = 0 }: Delivery): Outcome {
  if (fault === 'callback-lose') {
    return { tone: 'bad', label: 'lost', sentence: 'It was never posted: a fault lost it. Redeliver it to post it.' };
  }
  if (error !== undefined) {
    const hint = NOBODY.test(error) ? ' Nobody listens there: start your app, then redeliver it.' : '';
    const label = error.startsWith('not posted') ? 'not posted' : 'no answer';
    return { tone: 'bad', label, sentence: `${sentenceOf(error)}${hint}` };
  }
  if (status === undefined) return { tone: 'wait', label: 'under way', sentence: 'Your app has not answered yet.' };
  const label = String(status);
  if (status >= 200 && status < 300) {
    return { tone: 'good', label, sentence: `Your app took it: ${status} after ${spanOf(durationMs)}.` };
  }
  const why = status < 400 ? ', and a callback follows no redirect' : '';
  return { tone: 'bad', label, sentence: `Your app did not take it: ${status} after ${spanOf(durationMs)}${why}.` };
}

/** Describes a callback that waits. */
export function outcomeOfWaiting({ callback: { fault, repetition }, due }: WaitingCallback, now: number): Outcome {
  if (due === undefined) {
    return {
      tone: 'wait',
      label: 'held back',
      sentence: 'Held back until the next callback of its payment was posted.',
    };
  }
  const left = due > now ? `It is posted in ${spanOf(due - now)}` : 'It is being posted';
  const why = fault ? 'a fault delays it' : `retry ${repetition ?? 1}, as the one before was not answered with 2xx`;
  return { tone: 'wait', label: fault ? 'delayed' : 'retry due', sentence: `${left}: ${why}.` };
}

const sentenceOf = (text: string): string => {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
};
