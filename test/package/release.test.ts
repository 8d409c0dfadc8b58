// What stands beside a release, and that whoever builds it gets the same bytes.
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { billOfMaterials } from '../../.github/release/sbom.ts';
import { isCi, lacks } from '../support/skips.ts';
import { fetching, root, run } from './consumer.ts';
import { tarball } from './tarball.ts';

const hashOf = (file: string) => createHash('sha512').update(readFileSync(file)).digest('hex');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

it('the bill of materials names the packages that the build contains, in the versions of the lock file', () => {
  const { metadata, components, dependencies } = billOfMaterials();
  const licences = readFileSync(join(root, 'dist/THIRD-PARTY-LICENCES.txt'), 'utf8');
  const carried = licences.split(`\n${'-'.repeat(80)}\n\n`).map(text => text.split('\n', 1)[0]);
  expect(components.map(({ name }) => name).sort()).toEqual(carried.sort());
  expect(components.length).toBeGreaterThan(3);
  for (const { name, version, scope } of components) {
    expect([name, version, scope]).toEqual([name, lock[`node_modules/${name}`].version, 'required']);
  }
  expect(metadata.component.name).toBe('payment-gateway-sdk');
  expect(dependencies[0]?.dependsOn).toEqual(components.map(component => component['bom-ref']));
});

it('nothing of it runs a script when it is installed', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(Object.keys(scripts).filter(name => /install|prepare|prepublish/.test(name))).toEqual([]);
  for (const name of ['ky', 'zod']) expect(lock[`node_modules/${name}`]).not.toHaveProperty('hasInstallScript');
});

it.skipIf(lacks(isCi, 'a second build, which CI makes'))('a build in another folder gives the same tarball', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-again-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of run('git', ['ls-files', '-z'], root).split('\0')) {
    if (file) cpSync(join(root, file), join(folder, file));
  }
  fetching('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], folder);
  run('npm', ['pack', '--silent'], folder);
  expect(hashOf(join(folder, tarball.slice(join(tarball, '..').length + 1)))).toBe(hashOf(tarball));
});
