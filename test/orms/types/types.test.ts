// The compiler accepts each library with its own types: types.ts, and the shops next to it.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const config = new URL('../tsconfig.json', import.meta.url);

it('`tx` is the own transaction of each library', () => {
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', fileURLToPath(config)], { encoding: 'utf8' });
  expect(stdout).toBe('');
});
