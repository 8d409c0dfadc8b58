// Installs the tools, then packs and installs the tarball that would be published, while other tests run.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import installTools, { tool } from '../support/install.ts';
import { root } from './consumer.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of a JSON file that appears once the tarball is installed. */
    packing: string;
  }
}

/** The content of that file. */
export type Packing = { error: string } | { tarball: string; packed: string[]; app: string };

export default function pack(project: TestProject) {
  installTools(project);
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-pack-'));
  const app = join(folder, 'app');
  const stopping = new AbortController();
  const npm = (args: string[], cwd: string) => {
    const env = { ...process.env, NODE_ENV: '' };
    // On Windows npm is a script, which only a shell runs.
    const options = { cwd, shell: process.platform === 'win32', env, timeout: 400_000, signal: stopping.signal };
    return promisify(execFile)('npm', args, options);
  };

  async function install(): Promise<Packing> {
    const packing = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder];
    const [{ filename, files }] = JSON.parse((await npm(packing, root)).stdout);
    const tarball = join(folder, filename);
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true }');
    await npm(['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], app);
    // The apps of the slow variants find other tools above them.
    if (project.name === 'full') symlinkSync(tool(''), join(folder, 'node_modules'));
    return { tarball, packed: files.map(({ path }: { path: string }) => path), app };
  }

  const report = join(folder, 'packing.json');
  const installing = install()
    .catch(error => ({ error: `The tarball was not installed: ${error}\n${error.stdout}${error.stderr}` }))
    .then(packing => {
      if (stopping.signal.aborted) return;
      // Renaming is atomic: tests never read half of it.
      writeFileSync(`${report}.part`, JSON.stringify(packing));
      renameSync(`${report}.part`, report);
    });
  project.provide('packing', report);
  return async () => {
    stopping.abort();
    await installing;
    rmSync(folder, { recursive: true, force: true });
  };
}
