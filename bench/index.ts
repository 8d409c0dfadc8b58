// Measures everything, and prints docs/speed.md; with --write it writes the file.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { creates, type Row } from './creates.ts';
import { floods } from './flood.ts';
import { handlers } from './handler.ts';
import { imports } from './imports.ts';
import { journal } from './journal.ts';
import { listeners } from './listeners.ts';
import { FINAL, OPEN, outbox } from './outbox.ts';
import { parsing } from './parsing.ts';
import { sandboxes } from './sandbox.ts';

const ROUNDS = 5;
const OURS = 'payment-gateway-sdk';

const table = (names: string[], rows: string[][]): string =>
  [names, names.map((_, index) => (index === 0 ? '---' : '---:')), ...rows]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n');
const ratio = (a: number | undefined, b: number | undefined): string => ((a ?? 0) / (b ?? 1)).toFixed(2);
const whole = (value: number | undefined): string => Math.round(value ?? 0).toString();

const version = (name: string): string => {
  const file = new URL(name === OURS ? '../package.json' : `node_modules/${name}/package.json`, import.meta.url);
  return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`;
};
const PEERS = ['stripe', '@mollie/api-client', '@adyen/api-library', '@paddle/paddle-node-sdk', 'square', 'openai'];

/** Megabytes of what npm installs for a package alone. */
function installed(name: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-bench-'));
  const packed =
    name === OURS
      ? execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
          encoding: 'utf8',
          cwd: fileURLToPath(new URL('..', import.meta.url)),
        }).trim()
      : '';
  const wanted = packed ? `${folder}/${packed}` : name;
  writeFileSync(`${folder}/package.json`, '{ "private": true }');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', wanted], { cwd: folder });
  const modules = `${folder}/node_modules`;
  const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  const bytes = files.reduce((sum, file) => sum + statSync(`${file.parentPath}/${file.name}`).size, 0);
  rmSync(folder, { recursive: true });
  return bytes / 1e6;
}

function createsTable(rows: Row[]): string {
  const ours = rows.find(({ name }) => name === OURS);
  const names = [
    '',
    'CPU at 64 (µs)',
    'SDK / it',
    'CPU at 1 (µs)',
    'p50 at 1 (µs)',
    'p99 at 1 (µs)',
    'p50 at 64 (ms)',
    'p99 at 64 (ms)',
    'per second at 64',
    'at 256',
    'allocated (kB)',
    'SDK / it',
  ];
  return table(
    names,
    rows.map(({ name, at, bytes }) => [
      name,
      whole(at[64]?.cpu),
      ratio(ours?.at[64]?.cpu, at[64]?.cpu),
      whole(at[1]?.cpu),
      whole(at[1]?.p50),
      whole(at[1]?.p99),
      ((at[64]?.p50 ?? 0) / 1000).toFixed(1),
      ((at[64]?.p99 ?? 0) / 1000).toFixed(1),
      whole(at[64]?.perSecond),
      whole(at[256]?.perSecond),
      bytes ? (bytes / 1024).toFixed(1) : '–',
      bytes ? ratio(ours?.bytes, bytes) : '–',
    ]),
  );
}

const step = <T>(name: string, result: T): T => {
  console.error(`  ${name}: done`);
  return result;
};
const made = step('creates', await creates(ROUNDS));
const ours = made.find(({ name }) => name === OURS);
const told = step('listeners', await listeners(2 * ROUNDS + 1));
const read = step('parsing', parsing(2 * ROUNDS + 1));
const handled = step('callbacks', await handlers(3));
const flooded = step('a flood', await floods(60));
const [one, sixteen] = [await journal(ROUNDS, 1), await journal(ROUNDS, 16)];
step('journal', undefined);
const borne = step('plans, drains and sweeps', await outbox(3));
const { first, last } = step('sandbox', await sandboxes());
const loaded = step('imports', imports(2 * ROUNDS + 1));
const sizes = [OURS, ...PEERS].map(name => [name, installed(name).toFixed(1)]);

const stripe = loaded.find(({ name }) => name === 'stripe');
const [, plain] = one;
const [, plainAt16] = sixteen;
const document = `# Speed

Written by \`npm run bench -- --write\` on ${new Date().toISOString().slice(0, 10)}. Ratios are of one run on one machine, which other work
shared: they say who is quicker, and their second digit means little. No other document has figures of speed.

Node ${process.versions.node}; ${[OURS, ...PEERS, 'undici'].map(version).join(', ')}; ${cpus().length} cores (${cpus()[0]?.model.trim()}).

## A create

All send to one server in a process of its own, over connections that are kept, and get answers of one size. Each runs in a
process of its own; rounds alternate, and the medians of ${ROUNDS} are shown. "CPU" is of the whole process, per create, with so
many creates in flight. This SDK checks the request and the answer, and signs; "by hand" signs, and checks two fields.
Mollie's and Adyen's take nothing but TLS, and open a connection for each create.

${createsTable(made)}

What this SDK allocates more than code by hand is mostly ky's, which merges its options anew for each call and clones a
Request for a possible repetition.

With 4,000 creates in flight this SDK takes ${whole(ours?.at[4000]?.cpu)} µs of CPU for each: ${ratio(ours?.at[4000]?.cpu, ours?.at[64]?.cpu)} × that at 64.

## Being told of a create

By a \`fetch\` that answers at once, 64 in flight. By itself: \`node bench/listeners.ts\`.

${table(
  ['', 'CPU (µs)', '× nobody listens'],
  told.map(({ name, us }) => [name, us.toFixed(1), ratio(us, told[0]?.us)]),
)}

## Reading a callback

${table(
  ['', 'µs', '× JSON.parse of the same'],
  read.map(({ name, us }, index) => [name, us.toFixed(2), ratio(us, read[index - (index % 2)]?.us)]),
)}

Schemas are compiled once 1,000 records have been read, which takes some milliseconds, once.

## The webhook handler, with each inbox

${table(
  ['', 'callbacks per second', 'p99 (ms)'],
  handled.map(({ name, perSecond, p99 }) => [name, whole(perSecond), p99.toFixed(1)]),
)}

## A flood of forged callbacks

Of unknown ids, 300 a second for a minute, beside 20 genuine ones a second, to a gateway that answers a lookup after 100 ms.
A genuine callback that is answered 503 is posted again after a second. With tokens (\`signCallbackUrls\`) the flood has the
narrow lane; without, genuine callbacks share it. Time is that from the first post to the 200; memory is what the shop's
process has more at the end of the flood than before.

${table(
  [
    '',
    'genuine',
    'p50 (ms)',
    'p99 (ms)',
    '× p99 without a flood',
    'posted again',
    'lost',
    'heap (MB)',
    'memory (MB)',
    'lookups at once',
  ],
  flooded.map(({ name, genuine, p50, p99, repeated, lost, heap, rss, most }) => [
    name,
    whole(genuine),
    whole(p50),
    whole(p99),
    ratio(p99, flooded[0]?.p99),
    whole(repeated),
    whole(lost),
    whole(heap),
    whole(rss),
    whole(most),
  ]),
)}

## A create with a journal in PostgreSQL

${[[one, plain, 'one at a time'] as const, [sixteen, plainAt16, '16 at a time'] as const]
  .map(([rows, base, when]) =>
    table(
      [when, 'p50 (ms)', '× create and two commits', 'p99 (ms)', 'per second', 'statements'],
      rows.map(({ name, p50, p99, perSecond, statements }) => [
        name,
        p50.toFixed(2),
        ratio(p50, base?.p50),
        p99.toFixed(1),
        whole(perSecond),
        statements.toString(),
      ]),
    ),
  )
  .join('\n\n')}

The two commits write two short columns; the journal writes the request's fingerprint and the payment. Part of what it takes
beyond them is the database's time for parsing and planning longer statements. Prepared statements would save that, but a
connection pooler that shares connections between transactions may know none.

## What one database bears

The SDK, its workers and PostgreSQL share the ${cpus().length} cores of this machine, and the gateway answers at once. 16 transactions at a
time, each of which inserts an order; and then the drains of what they planned.

${table(
  ['', 'per second'],
  [
    ['orders alone', whole(borne.orders)],
    ['orders with a plan', whole(borne.plans)],
    ['orders with a plan, `notify: false`', whole(borne.quietPlans)],
    ['planned creates sent, by one worker', whole(borne.drains)],
    ['planned creates sent, by three', whole(borne.drainsByThree)],
  ],
)}

A sweep of ${OPEN} open payments beside ${FINAL.toLocaleString('en')} final ones takes ${borne.sweep.ms.toFixed(0)} ms of the database for its ${borne.sweep.statements} statements, and the next
one, for which nothing is due, ${borne.emptySweep.ms.toFixed(1)} ms: planning and running, without commits. It uses the indexes
${borne.indexes.map(index => `\`${index}\``).join(' and ')}. By itself, once
\`npm run bench\` has set it up: \`node bench/outbox.ts\`.

## The sandbox

Create, complete and call back: ${whole(first)} µs for each of the first payments, and ${whole(last)} µs for each after 10,000
(${ratio(last, first)} ×).

## Importing

CPU milliseconds over a bare start of Node, the medians of ${2 * ROUNDS + 1} new processes each.

${table(
  ['', 'ESM', '× stripe', 'CommonJS', '× stripe'],
  loaded.map(({ name, esm, cjs }) => [name, whole(esm), ratio(esm, stripe?.esm), whole(cjs), ratio(cjs, stripe?.cjs)]),
)}

## Installing

Megabytes in \`node_modules\`, dependencies included.

${table(['', 'MB'], sizes)}
`;

if (process.argv.includes('--write')) writeFileSync(new URL('../docs/speed.md', import.meta.url), document);
else console.log(document);
