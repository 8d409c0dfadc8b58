// Tools that only tests of the package use. They have a package of their own, which CI installs.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installIn } from '../support/install-orms.ts';
import { root } from './consumer.ts';

const folder = join(root, 'test/package/tools');

/** Only where there is time for what they do: in CI. */
export function installTools(): void {
  // Not `ci`: it wants what knip parses with for every platform in the lock file.
  if (!existsSync(join(folder, 'node_modules'))) installIn(folder, 'install', '--no-save');
}

/** Their types are not there where the tests are checked. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export const load = (tool: string): any => createRequire(join(folder, 'package.json'))(tool);

/** A program of theirs. */
export const tool = (path: string): string => join(folder, 'node_modules', path);
