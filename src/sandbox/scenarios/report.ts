// Plays every built-in scenario at a merchant's server, for a report card.
import type { Parts } from '../parts.ts';
import { SCENARIOS } from './library.ts';
import { type PlayOptions, play } from './play.ts';

/** The worst one first. */
export const RESULTS = ['failed', 'unchecked', 'passed'] as const;

type Result = (typeof RESULTS)[number];

/** The result of every built-in scenario. */
export interface Report {
  /** `unchecked` if the server answered no callback. */
  result: Result;
  /** The played ones, in order. */
  scenarios: {
    name: string;
    does: string;
    /** `unchecked` if the server answered none of its callbacks. */
    result: Result;
    /** The reasons for another result than `passed`. */
    problems: string[];
    paymentId: string;
  }[];
}

/** Plays one scenario after the other, until the server does not answer. */
export async function testServer(parts: Parts, options: PlayOptions, origin: string): Promise<Report> {
  const scenarios: Report['scenarios'] = [];
  for (const { name, does } of SCENARIOS) {
    const { payment, deliveries, problems, note } = await play(parts, name, options, origin);
    const isAnswered = deliveries.some(({ status }) => status !== undefined);
    const result = !isAnswered ? 'unchecked' : problems.length > 0 ? 'failed' : 'passed';
    scenarios.push({ name, does, result, problems: note ? [note] : problems, paymentId: payment.id });
    if (!isAnswered) break;
  }
  return { result: RESULTS.find(one => scenarios.some(({ result }) => result === one)) ?? 'unchecked', scenarios };
}

/** `1 failed, 0 unchecked, 17 passed` */
export const summaryOf = ({ scenarios }: Report): string =>
  RESULTS.map(wanted => `${scenarios.filter(({ result }) => result === wanted).length} ${wanted}`).join(', ');
