// The handler on the servers that are not Node's own: whatever arrives is answered, and the process lives on.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPaymentsApp } from '../examples/payments-app.ts';
import { post as at, CHUNKED, callback, HOST, LENGTH, lengthOf, nested, request, TYPE } from '../webhooks/hostile.ts';
import { type Outcome, type RawRequest, sendRaw } from '../webhooks/raw-http.ts';
import { fetching, root, run } from './consumer.ts';
import { folderInApp, tarball } from './tarball.ts';
import { RUNTIMES } from './tools.ts';

/** Starts a server that prints its port, alone or in an address. */
async function start(folder: string, command: string, ...args: string[]) {
  const child = spawn(command, args, { cwd: folder, env: { ...process.env, NODE_ENV: '' } });
  onTestFinished(() => void child.kill());
  let printed = '';
  const port = await new Promise<number>((resolve, reject) => {
    const read = (data: unknown) => {
      printed += data;
      const found = /(?:^|127\.0\.0\.1:)(\d{4,5})\s/.exec(printed)?.[1];
      if (found) resolve(Number(found));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(printed)));
  });
  return { port, isAlive: () => child.exitCode === null && child.signalCode === null, printed: () => printed };
}

const post = (headers: string[], body = callback) => at(headers, body, '/callbacks');
const withMethod = (name: string) => request(`${name} /callbacks HTTP/1.1`, [HOST, TYPE]);
const withHost = (text: string) =>
  request('POST /callbacks HTTP/1.1', [`Host: ${text}`, TYPE, LENGTH, 'Connection: close'], callback);
const withTarget = (text: string) => request(`POST ${text} HTTP/1.1`, [HOST, TYPE, LENGTH], callback);

const [deep, tooLarge] = [nested(40_000), 'x'.repeat(300 * 1024)];
const deepFields = `${callback.slice(0, -1)},"amount":${deep},"currency":${deep},"reference":${deep}}`;
const genuine = post([LENGTH]);

interface Hostile extends RawRequest {
  name: string;
  /** A status that every server answers; `refused`, by the server, by the handler or by closing; or either. */
  answer: number | 'refused' | 'any';
}

const HOSTILE: Hostile[] = [
  { name: 'GET', bytes: withMethod('GET'), answer: 405 },
  { name: 'PUT', bytes: withMethod('PUT'), answer: 405 },
  // Next.js answers OPTIONS itself.
  { name: 'OPTIONS', bytes: withMethod('OPTIONS'), answer: 'any' },
  { name: 'TRACE', bytes: withMethod('TRACE'), answer: 'refused' },
  { name: 'BREW', bytes: withMethod('BREW'), answer: 'refused' },
  { name: 'no JSON', bytes: post([lengthOf('nope')], 'nope'), answer: 400 },
  { name: 'null', bytes: post([lengthOf('null')], 'null'), answer: 400 },
  { name: 'no body', bytes: post([lengthOf('')], ''), answer: 400 },
  { name: 'deep arrays for its fields', bytes: post([lengthOf(deepFields)], deepFields), answer: 'any' },
  { name: '300 KiB', bytes: post([lengthOf(tooLarge)], tooLarge), answer: 413 },
  { name: 'a length of 300 KiB', bytes: post([lengthOf(tooLarge)], 'half'), answer: 413 },
  { name: '300 KiB in a chunk', bytes: post([CHUNKED], `4b000\r\n${tooLarge}\r\n`), answer: 413 },
  { name: 'a bad chunk', bytes: post([CHUNKED], 'zz\r\nhalf\r\n'), answer: 'refused' },
  { name: 'a bad length', bytes: post(['Content-Length: -1']), answer: 'refused' },
  { name: 'half a body, then FIN', bytes: post([LENGTH], 'half'), end: 'fin', answer: 'refused' },
  { name: 'half a body, then RST', bytes: post([LENGTH], 'half'), end: 'rst', answer: 'refused' },
  { name: 'half a chunk, then RST', bytes: post([CHUNKED], 'ff\r\nhalf'), end: 'rst', answer: 'refused' },
  { name: 'garbage', bytes: 'garbage\r\n\r\n', answer: 'refused' },
  ...['a@c', 'a b:c', '[::1', 'x:99999', '\xff\xfe', ''].map(
    (text): Hostile => ({ name: `Host: ${text}`, bytes: withHost(text), answer: 'any' }),
  ),
  ...['/callbacks?a=%E0%A4%A', '/callbacks/%', '//evil', 'http://a@c:99999/callbacks', '*'].map(
    (text): Hostile => ({ name: `target ${text}`, bytes: withTarget(text), answer: 'any' }),
  ),
];

function isRight(answer: Hostile['answer'], [first]: Outcome): boolean {
  const isRefused = first === 'closed' || Number(first) >= 400;
  if (answer === 'refused') return isRefused;
  return answer === 'any' ? isRefused || Number(first) >= 200 : first === answer;
}

async function answersAll({ port, isAlive, printed }: Awaited<ReturnType<typeof start>>) {
  const send = (hostile: RawRequest) => sendRaw(port, hostile, 'answer');
  expect(await send({ bytes: genuine })).toEqual([200]);
  const mistakes: string[] = [];
  for (const hostile of HOSTILE) {
    const { name, answer } = hostile;
    const outcome = await send(hostile);
    if (!isRight(answer, outcome)) mistakes.push(`${name}: ${outcome}, not ${answer}`);
    const after = await send({ bytes: genuine });
    if (after[0] !== 200) mistakes.push(`a callback after ${name}: ${after}, not 200`);
  }
  expect(mistakes).toEqual([]);
  expect(isAlive()).toBe(true);
  expect(printed()).not.toMatch(/unhandled|uncaught/i);
}

/** As its first lines say: its imports lose their extensions. */
function copyExample(folder: string): void {
  mkdirSync(folder);
  const copies = { 'route.ts': 'next-route.ts', 'payments.ts': 'payments.ts' };
  for (const [name, original] of Object.entries(copies)) {
    const code = readFileSync(join(root, 'examples', original), 'utf8');
    writeFileSync(join(folder, name), code.replace(/'(\.\/[\w-]+)\.js'/g, "'$1'"));
  }
}

describe('a callback endpoint answers whatever arrives', () => {
  it.each(RUNTIMES.filter(([name]) => ['Bun', 'Deno'].includes(name)))('on %s', async (_, [runtime = '', ...args]) => {
    await answersAll(await start(folderInApp(), runtime, ...args, 'serve.mjs'));
  });

  it('in route handlers of Next.js, that of the example too, built without keys', { timeout: 300_000 }, async () => {
    // Next.js builds only what its own folder contains.
    const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-next-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'package.json'), '{ "name": "shop", "private": true }');
    for (const file of ['callbacks.mjs', 'merchant.mjs'])
      copyFileSync(join(root, 'test/package/consumers', file), join(folder, file));
    const packages = ['next@latest', 'react@latest', 'react-dom@latest', 'pg', 'typescript@5'];
    const types = ['@types/node', '@types/pg', '@types/react'];
    fetching('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball, ...packages, ...types], folder);
    writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true }, "include": ["app"] }');
    const route = join(folder, 'app/callbacks');
    mkdirSync(route, { recursive: true });
    writeFileSync(
      join(route, 'route.js'),
      "import { handler } from '../../callbacks.mjs';\n\nexport const POST = handler;\n",
    );
    copyExample(join(folder, 'app/shop'));
    const next = join(folder, 'node_modules/next/dist/bin/next');
    run(process.execPath, [next, 'build'], folder, { NEXT_TELEMETRY_DISABLED: '1' });
    const shop = await openPaymentsApp();
    onTestFinished(() => shop.close());
    const server = await start(folder, process.execPath, next, 'start', '-p', '0', '-H', '127.0.0.1');
    await answersAll(server);

    shop.reach(false);
    await shop.place('order-1');
    await shop.pay('order-1');
    const id = shop.sandbox.payments[0]?.id ?? '';
    await shop.sandbox.complete(id);
    await shop.sandbox.idle();
    const { body = '' } = shop.sandbox.deliveries.at(-1) ?? {};
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    expect((await fetch(`http://127.0.0.1:${server.port}/shop`, init)).status).toBe(200);
    expect(await shop.rowsOf('orders', 'id, paid')).toEqual([{ id: 'order-1', paid: true }]);
  });
});
