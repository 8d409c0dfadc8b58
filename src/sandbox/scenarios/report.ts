// Plays every built-in scenario at a merchant's server, for a report card.
import * as z from 'zod';
import type { Parts } from '../parts.ts';
import { SCENARIOS } from './library.ts';
import { play, type Stage } from './play.ts';

/** The worst one first. */
export const RESULTS = ['failed', 'unchecked', 'passed'] as const;

const tested = z.object({
  name: z.string().describe('The scenario.'),
  does: z.string().describe('In one sentence.'),
  result: z.enum(RESULTS).describe('`unchecked` if your server answered none of its callbacks.'),
  problems: z.array(z.string()).describe('The reasons for another result than `passed`.'),
  paymentId: z.guid().describe('Its payment.'),
});

export const reportShape = z.object({
  result: z.enum(RESULTS).describe('`unchecked` if your server answered no callback.'),
  scenarios: z.array(tested).describe('The played ones, in order.'),
});

export type Report = z.infer<typeof reportShape>;

/** Plays one scenario after the other, until the server does not answer. */
export async function testServer(parts: Parts, stage: Stage): Promise<Report> {
  const scenarios: Report['scenarios'] = [];
  for (const { name, does } of SCENARIOS) {
    const { payment, deliveries, problems, note } = await play(parts, name, stage);
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
