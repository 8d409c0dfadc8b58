// What a soak has seen, as Markdown: it is printed, and with --write it is a part of docs/contributing/soak.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { tableOf } from '../support/markdown.ts';
import { ALLOWED, type Measure, type Thirds } from './judge.ts';

export interface Soaked {
  minutes: number;
  seed: string;
  machine: string;
  /** What has happened, by what it is called. */
  happened: readonly (readonly [what: string, count: number, isRare?: 'rare'])[];
  /** How often each fault was injected. */
  faults: Readonly<Record<string, number>>;
  thirds: Thirds;
  /** How often it was measured. */
  samples: number;
  problems: readonly string[];
}

const MEASURES: Record<Measure, string> = {
  heap: 'heap after a garbage collection (MB)',
  rss: 'resident memory (MB)',
  sockets: 'open sockets',
  resources: "Node's active handles and requests",
};
const whole = (value: number) => value.toLocaleString('en');
const short = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1));

export function summaryOf({ minutes, seed, machine, happened, faults, thirds, samples, problems }: Soaked): string {
  const verdict =
    problems.length === 0 ? 'Nothing was lost, nothing doubled, nothing left open.' : `${problems.length} problems.`;
  const date = new Date().toISOString().slice(0, 10);
  const measures = Object.entries(MEASURES) as [Measure, string][];
  return [
    `**${verdict}** By \`npm run soak -- ${minutes} --seed ${seed}\`, on ${date}, ${machine}.`,
    tableOf(
      ['what happened', 'how often'],
      happened.map(([what, count]) => [what, whole(count)]),
    ),
    `Injected faults: ${Object.entries(faults)
      .map(([fault, count]) => `${whole(count)} \`${fault}\``)
      .join(', ')}.`,
    `The process that was never killed, measured ${samples} times. Each figure is the minimum of a third of its time:`,
    tableOf(
      ['held', 'first third', 'second third', 'last third', 'may grow by'],
      measures.map(([measure, name]) => [name, ...thirds[measure].map(short), short(ALLOWED[measure])]),
    ),
  ].join('\n\n');
}

export function write(summary: string): void {
  const path = new URL('../../docs/contributing/soak.md', import.meta.url);
  const [begin, end] = ['<!-- seen: soak -->\n\n', '\n\n<!-- end -->'];
  const document = readFileSync(path, 'utf8');
  const [before = '', rest = ''] = document.split(begin);
  writeFileSync(path, `${before}${begin}${summary}${rest.slice(rest.indexOf(end))}`);
}
