// Installs the tracers and loggers of test/observability, once before all tests, unless they are there.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installIn } from './install-orms.ts';

const folder = fileURLToPath(new URL('../observability/', import.meta.url));

export const hasObservers = (): boolean => existsSync(`${folder}node_modules`);

export default function install(): void {
  try {
    if (!hasObservers()) installIn(folder);
  } catch (error) {
    // Whatever needs them skips with a loud line, or fails in CI.
    console.warn(String(error));
  }
}
