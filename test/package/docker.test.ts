// The sandbox in a container, built from the tarball that would be published.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { lacks } from '../support/skips.ts';
import { root } from './consumer.ts';
import { tarball } from './tarball.ts';

const docker = (...args: string[]) => spawnSync('docker', args, { encoding: 'utf8' });
const hasDocker = docker('info').status === 0;
const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-docker-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.skipIf(lacks(hasDocker, 'the container of the sandbox: no docker runs on this machine', true))(
  'answers from its container, by the name that it has there',
  { timeout: 600_000 },
  async () => {
    copyFileSync(tarball, join(folder, basename(tarball)));
    copyFileSync(join(root, 'Dockerfile'), join(folder, 'Dockerfile'));
    const image = `payment-gateway-sandbox-test-${process.pid}`;
    const built = docker('build', '--tag', image, folder);
    expect([built.status, built.status === 0 ? '' : built.stderr]).toEqual([0, '']);
    const container = docker('run', '--detach', '--rm', '--init', '--publish', '127.0.0.1:0:4010', image).stdout.trim();
    try {
      const address = docker('port', container, '4010').stdout.trim().split('\n')[0];
      const info = async () => (await fetch(`http://${address}/_sandbox/info`)).status;
      await expect.poll(() => info().catch(() => 0)).toBe(200);
      const played = docker('exec', container, 'payment-gateway-sandbox', 'trigger', 'deposit-completed');
      expect([played.status, played.stdout]).toEqual([0, expect.stringMatching(/^COMPLETED /)]);
    } finally {
      docker('rm', '--force', container);
      docker('rmi', '--force', image);
    }
  },
);
