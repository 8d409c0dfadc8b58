// Packs the tarball that would be published, once for all tests of it. Packing builds it, while other tests run.
import { execFile } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { root } from './consumer.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of a file of JSON, which is there once the tarball is. */
    packing: string;
  }
}

/** What is in that file. */
export type Packing = { error: string } | { tarball: string; packed: string[] };

export default function pack(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-pack-'));
  const report = join(folder, 'packing.json');
  const tell = (packing: Packing) => {
    writeFileSync(`${report}.part`, JSON.stringify(packing));
    // Nobody reads half of it.
    renameSync(`${report}.part`, report);
  };
  const args = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder];
  // On Windows npm is a script, which only a shell runs.
  const shell = process.platform === 'win32';
  const options = { cwd: root, shell, env: { ...process.env, NODE_ENV: '' }, timeout: 110_000 };
  let isOver = false;
  // Whatever happened is told: the tests wait for it.
  const child = execFile('npm', args, options, (error, stdout, stderr) => {
    if (isOver) return;
    try {
      if (error) throw error;
      const [{ filename, files }] = JSON.parse(stdout);
      tell({ tarball: join(folder, filename), packed: files.map(({ path }: { path: string }) => path) });
    } catch (failure) {
      tell({ error: `The tarball was not packed: ${failure}\n${stdout}${stderr}` });
    }
  });
  project.provide('packing', report);
  return () => {
    isOver = true;
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  };
}
