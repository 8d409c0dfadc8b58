// `npm run demo` on the source: every scene ends as it says, each run prints the same, and a broken promise ends it with 1.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const hooks = new URL('../support/shop-from-source.mjs', import.meta.url).href;

async function run(...imports: string[]) {
  const loaded = [hooks, ...imports].flatMap(url => ['--import', url]);
  const child = spawn(process.execPath, ['--no-warnings', ...loaded, 'examples/demo/index.ts'], {
    cwd: root,
    env: { ...process.env, NODE_ENV: '', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { out, errors, code };
}

it('plays twelve scenes, twice the same', async () => {
  const [first, second] = await Promise.all([run(), run()]);
  expect(first).toMatchObject({ code: 0, errors: '' });
  expect(first.out.match(/^ +✓ /gm)).toHaveLength(12);
  expect(second.out).toBe(first.out);
});

it('ends with 1 if a scene does not end as it says', async () => {
  const loses = `import { Sandbox } from 'payment-gateway-sdk/sandbox'; Sandbox.prototype.complete = async () => ({});`;
  const { code, out } = await run(`data:text/javascript,${encodeURIComponent(loses)}`);
  expect(code).toBe(1);
  expect(out).toContain('✗ AssertionError');
});
