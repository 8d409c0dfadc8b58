// examples/shop as whoever copies it has it: out of the installed package into an empty place, installed, checked and started.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../support/ports.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';
import { run } from './consumer.ts';
import { installed, packed, tarball } from './tarball.ts';

it('the tarball holds the sources of the shop, and nothing that was installed there', () => {
  const files = packed.filter(path => path.startsWith('examples/shop/'));
  expect(files.filter(path => !/^examples\/shop\/[\w-]+\.(ts|css|js|json|md)$/.test(path))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['examples/shop/server.ts', 'examples/shop/package.json']));
});

it.skipIf(lacks(hasPostgres, 'a copy of examples/shop: no PostgreSQL at 127.0.0.1:5432'))(
  'a copy of the shop is installed, compiles, starts and ends',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-shop-'));
    const schema = uniqueName('copy');
    const pool = postgresPool({ max: 1 });
    onTestFinished(async () => {
      rmSync(folder, { recursive: true, force: true });
      await pool.query(`drop schema if exists ${schema} cascade`);
      await pool.end();
    });
    cpSync(installed('examples/shop'), folder, { recursive: true });
    // The package of this very commit, in place of the one in the registry.
    run('npm', ['install', '--no-save', '--prefer-offline', '--no-audit', '--no-fund', tarball], folder);
    run('npm', ['run', 'check'], folder);

    const [port] = await freePorts(1);
    const env = { ...process.env, NODE_ENV: '', PORT: String(port), DATABASE_SCHEMA: schema };
    const shop = spawn(process.execPath, ['server.ts'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void shop.kill('SIGKILL'));
    const [address] = await once(createInterface(shop.stdout), 'line');
    expect(address).toBe(`Shop       http://127.0.0.1:${port}`);
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toContain('Harbour Tea');
    shop.kill('SIGTERM');
    expect(await once(shop, 'exit')).toEqual([0, null]);
  },
);
