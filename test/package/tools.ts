// Tools that only tests of the package use. They have a package of their own.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { toolsFolder } from '../support/install.ts';

/** Their types are not there where the tests are checked. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export const load = (tool: string): any => createRequire(join(toolsFolder, 'package.json'))(tool);

/** A program of theirs. */
export const tool = (path: string): string => join(toolsFolder, 'node_modules', path);
