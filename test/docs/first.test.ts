// The first programs of a newcomer, run unchanged: the README's script, and the server of Getting started.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePorts } from '../support/ports.ts';
import { FROM_SOURCE } from '../support/processes.ts';
import { blocksOf, root } from './pages.ts';

const BY_NAME = ['--import', new URL('./by-name.mjs', import.meta.url).href];

let folder = '';
beforeAll(() => {
  mkdirSync(`${root}test/docs/examples`, { recursive: true });
  folder = mkdtempSync(`${root}test/docs/examples/first-`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(page: string, file: string, env: object = {}) {
  const [example] = blocksOf(page).filter(({ language }) => language === 'js');
  writeFileSync(`${folder}/${file}`, example?.code ?? '');
  return spawn(process.execPath, [...FROM_SOURCE, ...BY_NAME, file], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

it('the README has a script of fifteen lines that prints the shown text', async () => {
  const [expected] = blocksOf('README.md').filter(({ language }) => language === 'text');
  expect(await text(start('README.md', 'first.mjs').stdout)).toBe(expected?.code);
  const [{ code } = { code: '' }] = blocksOf('README.md').filter(({ language }) => language === 'js');
  expect(code.split('\n').filter(Boolean)).toHaveLength(15);
});

it('docs/getting-started.md has a shop that is paid on the page of its sandbox', async () => {
  const [port] = await freePorts(1);
  const child = start('docs/getting-started.md', 'shop.mjs', { PORT: String(port) });
  try {
    const [line] = await once(child.stdout, 'data');
    const shop = `http://127.0.0.1:${port}`;
    expect(String(line)).toBe(`Open ${shop}\n`);
    const { headers } = await fetch(shop, { redirect: 'manual' });
    expect(await (await fetch(`${shop}/thanks`)).text()).toBe('open');
    const body = new URLSearchParams({ act: 'pay' });
    const paid = await fetch(headers.get('location') ?? '', { method: 'POST', body, redirect: 'manual' });
    expect(paid.headers.get('location')).toBe(`${shop}/thanks`);
    await expect.poll(async () => (await fetch(`${shop}/thanks`)).text()).toBe('paid');
    expect((await fetch(`${shop}/callbacks?callbackToken=x`, { method: 'POST', body: '{' })).status).toBe(400);
    expect((await fetch(shop, { redirect: 'manual' })).headers.get('location')).toBe('/thanks');
  } finally {
    child.kill();
  }
});
