// A release can be built again: the tarball is the same, byte by byte.
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { root, run } from './consumer.ts';
import { tarball } from './tarball.ts';

const hashOf = (file: string) => createHash('sha512').update(readFileSync(file)).digest('hex');

it('a build in another folder gives the same tarball', { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-again-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of run('git', ['ls-files', '-z'], root).split('\0')) {
    if (file) cpSync(join(root, file), join(folder, file));
  }
  const packages = realpathSync(join(root, 'node_modules'));
  const link = statSync(packages).dev === statSync(folder).dev ? ['--link'] : [];
  run('cp', ['--archive', ...link, packages, join(folder, 'node_modules')], root);
  run('npm', ['pack', '--silent'], folder);
  expect(hashOf(join(folder, tarball.slice(join(tarball, '..').length + 1)))).toBe(hashOf(tarball));
});
