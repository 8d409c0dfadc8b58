// The tarball, installed by other package managers than npm.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fetching, root, run } from './consumer.ts';
import { tarball } from './tarball.ts';

/** An empty project with a merchant's scripts. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-app-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{ "name": "app", "private": true }');
  for (const file of ['main.mjs', 'main.cjs', 'play.cjs'])
    copyFileSync(join(root, 'test/package/consumers', file), join(folder, file));
  return folder;
}

describe('in an empty project', () => {
  it('of pnpm, both builds run', () => {
    const folder = project();
    fetching('npx', ['--yes', 'pnpm@latest', 'add', tarball], folder);
    for (const file of ['main.mjs', 'main.cjs']) expect(run(process.execPath, [file], folder)).toBe('consumer: done\n');
  });

  it("of Yarn with Plug'n'Play, where no node_modules is, both builds run", () => {
    const folder = project();
    // Yarn begins a project where it finds a lock file, and does not read npm's settings.
    writeFileSync(join(folder, 'yarn.lock'), '');
    const registry = run('npm', ['config', 'get', 'registry'], folder).trim();
    const env = {
      YARN_NODE_LINKER: 'pnp',
      YARN_NPM_REGISTRY_SERVER: registry,
      YARN_UNSAFE_HTTP_WHITELIST: registry.startsWith('http:') ? '*' : '',
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
      YARN_ENABLE_TELEMETRY: '0',
    };
    const yarn = ['--yes', '@yarnpkg/cli-dist@latest'];
    fetching('npx', [...yarn, 'add', `payment-gateway-sdk@file:${tarball}`], folder, env);
    for (const file of ['main.mjs', 'main.cjs']) {
      expect(run('npx', [...yarn, 'node', file], folder, env)).toBe('consumer: done\n');
    }
  });
});
