// Installs the packages that single suites have of their own, once before all tests, unless they are there.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installIn } from './install-orms.ts';
import { isCi } from './skips.ts';

/** By folder in test/, how they are installed. */
const SUITES = {
  // Not `ci`: it wants binaries for every platform in the lock file, of a part of BullMQ that is not needed here.
  schedulers: ['install', '--no-save'],
  observability: ['ci'],
} as const;

const folderOf = (suite: string) => fileURLToPath(new URL(`../${suite}/`, import.meta.url));

export const isInstalled = (suite: keyof typeof SUITES): boolean => existsSync(`${folderOf(suite)}node_modules`);

/** Only where there is time for it: in CI. */
export default function install(): void {
  if (!isCi) return;
  for (const [suite, command] of Object.entries(SUITES)) {
    try {
      if (!isInstalled(suite as keyof typeof SUITES)) installIn(folderOf(suite), ...command);
    } catch (error) {
      // Whatever needs them skips with a loud line, or fails in CI.
      console.warn(String(error));
    }
  }
}
