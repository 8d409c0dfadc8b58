// Installs the tools of test/package/tools, once before the tests of the package: two of its files use them, beside each other.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installIn } from './install-orms.ts';
import { isCi } from './skips.ts';

export const toolsFolder = fileURLToPath(new URL('../package/tools/', import.meta.url));

/** Only where there is time for what they do: in CI. */
export default function install(): void {
  if (!isCi || existsSync(join(toolsFolder, 'node_modules'))) return;
  try {
    // Not `ci`: it wants what knip parses with for every platform in the lock file.
    installIn(toolsFolder, 'install', '--no-save');
  } catch (error) {
    // Whatever needs them fails.
    console.warn(String(error));
  }
}
