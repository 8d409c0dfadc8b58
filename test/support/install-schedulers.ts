// Installs the job engines of test/schedulers, once before all tests, unless they are there.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installIn } from './install-orms.ts';

const folder = fileURLToPath(new URL('../schedulers/', import.meta.url));

export const hasSchedulers = (): boolean => existsSync(`${folder}node_modules`);

export default function install(): void {
  try {
    // Not `ci`: it wants binaries for every platform in the lock file, of a part of BullMQ that is not needed here.
    if (!hasSchedulers()) installIn(folder, 'install', '--no-save');
  } catch (error) {
    // Whatever needs them skips with a loud line, or fails in CI.
    console.warn(String(error));
  }
}
