// Tools that only tests of the package use. They have a package of their own, which CI installs.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installIn } from '../support/install-orms.ts';
import { isCi } from '../support/skips.ts';
import { root } from './consumer.ts';

const folder = join(root, 'test/package/tools');
const isThere = () => existsSync(join(folder, 'node_modules'));

/** CI installs them, and whoever works on the package: npm ci --prefix test/package/tools */
export const hasTools = isCi || isThere();

export function installTools(): void {
  if (!isThere()) installIn(folder);
}

/** Their types are not there where the tests are checked. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export const load = (tool: string): any => createRequire(join(folder, 'package.json'))(tool);

/** A program of theirs. */
export const tool = (path: string): string => join(folder, 'node_modules', path);
