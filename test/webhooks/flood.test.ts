// A flood of large callbacks must not take the shop's memory: a parsed body of 256 KiB takes ten times as much.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { FROM_SOURCE } from '../support/processes.ts';

const shop = fileURLToPath(new URL('./flooded-shop.ts', import.meta.url));
/** A list of empty objects. */
const body = (bytes: number): string => `{"id":"${randomUUID()}","list":[${'{},'.repeat(bytes / 3 - 40)}{}]}`;

it('100 callbacks of 256 KiB at once take no 128 MB of a shop', { timeout: 60_000 }, async () => {
  const child = spawn(process.execPath, ['--max-old-space-size=128', ...FROM_SOURCE, shop], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = line.toString().trim();
  const post = async (text: string) => {
    const response = await fetch(url, { method: 'POST', body: text });
    await response.text();
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: 100 }, () => post(body(262_144)).catch(() => 'no answer')));
  expect(statuses.filter(status => status !== 200)).toEqual([]);
  expect(await post(JSON.stringify({ id: randomUUID() }))).toBe(200);
  expect(child.exitCode).toBeNull();
  child.kill('SIGKILL');
});
