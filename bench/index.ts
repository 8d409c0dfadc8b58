// Measures everything, and prints docs/contributing/speed.md. With --write it writes the file.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { creates, type Row } from './creates.ts';
import type { Work } from './database.ts';
import { floods } from './flood.ts';
import { imports } from './imports.ts';
import { parsing } from './parsing.ts';
import { sandboxes } from './sandbox.ts';
import { type Stored, stores } from './store.ts';
import { FINAL, OPEN, upkeeps } from './upkeep.ts';

const ROUNDS = 5;
const OURS = 'payment-gateway-sdk';
const PEERS = ['stripe', '@mollie/api-client', '@adyen/api-library', '@paddle/paddle-node-sdk', 'square', 'openai'];

const table = (names: string[], rows: string[][]): string =>
  [names, names.map((_, index) => (index === 0 ? '---' : '---:')), ...rows]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n');
const ratio = (a = 0, b = 1): string => (a / b).toFixed(2);
const whole = (value = 0): string => Math.round(value).toString();
const tenths = (value = 0): string => value.toFixed(1);

const version = (name: string): string => {
  const file = new URL(name === OURS ? '../package.json' : `node_modules/${name}/package.json`, import.meta.url);
  return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`;
};

/** Returns the megabytes that npm installs for one package. */
function installed(name: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-bench-'));
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
  const wanted = name === OURS ? `${folder}/${execFileSync('npm', pack, { encoding: 'utf8', cwd }).trim()}` : name;
  writeFileSync(`${folder}/package.json`, '{ "private": true }');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', wanted], { cwd: folder });
  const files = readdirSync(`${folder}/node_modules`, { recursive: true, withFileTypes: true });
  const sizes = files.filter(entry => entry.isFile()).map(file => statSync(`${file.parentPath}/${file.name}`).size);
  rmSync(folder, { recursive: true });
  return sizes.reduce((sum, size) => sum + size, 0) / 1e6;
}

function createsTable(rows: Row[]): string {
  const ours = rows.find(({ name }) => name === OURS);
  const latencies = ['CPU at 1 (µs)', 'p50 at 1 (µs)', 'p99 at 1 (µs)', 'p50 at 64 (ms)', 'p99 at 64 (ms)'];
  return table(
    ['', 'CPU at 64 (µs)', 'SDK / it', ...latencies, 'per second at 64', 'at 256', 'allocated (kB)', 'SDK / it'],
    rows.map(({ name, at: { 1: one, 64: many, 256: most }, bytes }) => [
      ...[name, whole(many?.cpu), ratio(ours?.at[64]?.cpu, many?.cpu)],
      ...[whole(one?.cpu), whole(one?.p50), whole(one?.p99)],
      ...[tenths((many?.p50 ?? 0) / 1000), tenths((many?.p99 ?? 0) / 1000)],
      ...[whole(many?.perSecond), whole(most?.perSecond)],
      ...(bytes ? [tenths(bytes / 1024), ratio(ours?.bytes, bytes)] : ['–', '–']),
    ]),
  );
}

function storeTable(when: string, rows: Stored[], base: Stored | undefined, baseName: string): string {
  return table(
    [when, 'p50 (ms)', `× ${baseName}`, 'p99 (ms)', 'per second', 'statements'],
    rows.map(({ name, p50, p99, perSecond, statements }) => [
      ...[name, p50.toFixed(2), ratio(p50, base?.p50), tenths(p99), whole(perSecond), tenths(statements)],
    ]),
  );
}

const step = <T>(name: string, result: T): T => {
  console.error(`  ${name}: done`);
  return result;
};
const made = step('creates', await creates(ROUNDS));
const ours = made.find(({ name }) => name === OURS);
const read = step('parsing', await parsing(2 * ROUNDS + 1));
const flooded = step('a flood', await floods(60));
const [one, sixteen] = [await stores(ROUNDS, 1), await stores(ROUNDS, 16)];
step('stores', undefined);
const upkept = step('upkeep', await upkeeps(3));
const { first, last } = step('sandbox', await sandboxes());
const loaded = step('imports', await imports(2 * ROUNDS + 1));
const stripe = loaded.find(({ name }) => name === 'stripe');
const sizes = [OURS, ...PEERS].map(name => [name, tenths(installed(name))]);

const million = FINAL.toLocaleString('en');
const workRow = (name: string, { statements, ms }: Work) => [name, whole(statements), tenths(ms)];
/** Minutes of the database for the schedule and three rechecks of a million payments. */
const recheckMinutes = ((upkept.scheduled.ms + 3 * upkept.rechecked.ms) / OPEN) * (FINAL / 60_000);

const document = `# Speed

Written by \`npm run bench -- --write\` on ${new Date().toISOString().slice(0, 10)}. Compare only figures of one table: other work shared the
machine, and the second digit of a ratio means little. Other documents have no figures of speed.

Node ${process.versions.node}; ${[OURS, ...PEERS, 'undici'].map(version).join(', ')}; ${cpus().length} cores (${cpus()[0]?.model.trim()}).

## A create

All contenders send to one server over kept connections, and get answers of one size. Each runs in a separate process. Rounds
alternate, and the table shows the medians of ${ROUNDS}. "CPU" is that of the whole process per create, with so many creates in flight.
This SDK checks the request and the answer, and signs. "By hand" signs, and checks two fields. Mollie's and Adyen's SDKs need
TLS, and open a connection for each create.

${createsTable(made)}

ky allocates most of the difference to code by hand: it merges its options for each call, and clones a Request for a retry.

With 4,000 creates in flight this SDK takes ${whole(ours?.at[4000]?.cpu)} µs of CPU for each: ${ratio(ours?.at[4000]?.cpu, ours?.at[64]?.cpu)} × that at 64.

## A create and a checkout with a store in PostgreSQL

${storeTable('one at a time', one.creates, one.creates[1], 'create and two commits')}

${storeTable('16 at a time', sixteen.creates, sixteen.creates[1], 'create and two commits')}

The two commits write two short columns. The store writes the fingerprint of the request and the payment. The second click reads
the order, and looks its payment up.

## A callback with a store in PostgreSQL

The lookup answers immediately. "By hand" is a lookup and a transaction that inserts a mark and updates the order.

${storeTable('one at a time', one.callbacks, one.callbacks[0], 'by hand')}

${storeTable('16 at a time', sixteen.callbacks, sixteen.callbacks[0], 'by hand')}

## Reading a callback

${table(
  ['', 'µs', '× JSON.parse of the same'],
  read.map(({ name, value }, index) => [name, value.toFixed(2), ratio(value, read[index - (index % 2)]?.value)]),
)}

After 1,000 records the SDK compiles the schemas once, in some milliseconds.

## A flood of forged callbacks

300 forged callbacks of unknown payments and 20 genuine ones per second, for a minute. The gateway answers a lookup after 100 ms.
A genuine callback with the answer 503 is posted again after 1 s. With tokens (\`signCallbackUrls\`) the flood has the narrow lane.
Without tokens, genuine callbacks share it. Times are from the first post to the 200. Memory is the growth of the shop's process.

${table(
  [
    ...['', 'genuine', 'p50 (ms)', 'p99 (ms)', '× p99 without a flood', 'posted again', 'lost'],
    ...['heap (MB)', 'memory (MB)', 'concurrent lookups'],
  ],
  flooded.map(({ name, genuine, p50, p99, repeated, lost, heap, rss, most }) => [
    ...[name, whole(genuine), whole(p50), whole(p99), ratio(p99, flooded[0]?.p99), whole(repeated), whole(lost)],
    ...[whole(heap), whole(rss), whole(most)],
  ]),
)}

## Payouts

The SDK, its workers and PostgreSQL share the ${cpus().length} cores of this machine. The gateway answers immediately. 16 transactions run
concurrently, and each inserts a debt.

${table(
  ['', 'per second', '× a debt alone'],
  upkept.rates.map(({ name, value }) => [name, whole(value), ratio(value, upkept.rates[0]?.value)]),
)}

## Upkeep over ${million} paid payments

Statements of one \`upkeep\`, and their time in the database: parsing, planning and running. One that waits for a recheck is in the
index of due rows.

${table(
  ['one upkeep', 'statements', 'database (ms)'],
  [
    workRow('nothing due, all rechecks done', upkept.idle),
    workRow('nothing due, all wait for a recheck', upkept.waiting),
    workRow(`${OPEN} open payments`, upkept.open),
    workRow(`${OPEN} paid payments, put on their schedule`, upkept.scheduled),
    workRow(`${OPEN} rechecks`, upkept.rechecked),
  ],
)}

The schedule and three rechecks of ${million} payments take ${whole(recheckMinutes)} minutes of the database within 30 days, and 3 lookups each.

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

if (process.argv.includes('--write'))
  writeFileSync(new URL('../docs/contributing/speed.md', import.meta.url), document);
else console.log(document);
