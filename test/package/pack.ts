// Packs the tarball that would be published, once for all tests of it. Packing builds it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { root, run } from './consumer.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the tarball. */
    tarball: string;
    /** Paths of the files inside. */
    packed: string[];
  }
}

export default function pack(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-pack-'));
  const printed = run('npm', ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder], root);
  const [report] = JSON.parse(printed);
  project.provide('tarball', join(folder, report.filename));
  project.provide(
    'packed',
    report.files.map(({ path }: { path: string }) => path),
  );
  return () => rmSync(folder, { recursive: true, force: true });
}
