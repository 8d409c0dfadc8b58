// A short soak, as the script plays it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { FROM_SOURCE } from '../support/processes.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';

const script = fileURLToPath(new URL('run.ts', import.meta.url));
const isLeft = lacks(hasPostgres, 'a soak: no PostgreSQL at 127.0.0.1:5432');

it.skipIf(isLeft)(
  'loses nothing and doubles nothing in a short run of faults and crashes',
  {
    timeout: 240_000,
  },
  async () => {
    const args = [...FROM_SOURCE, script, '0.4', '--seed', 'ci'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [printed, failed, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    const problems = printed.split('\n').filter(line => line.startsWith('PROBLEM'));
    expect({ code, problems, failed }).toEqual({ code: 0, problems: [], failed: expect.any(String) });
  },
);
