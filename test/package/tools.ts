// The tools of tests of the package: test/tools.
import { createRequire } from 'node:module';
import { tool, toolsFolder } from '../support/install.ts';

export { tool };

/** The tools' types are missing where the tests are checked. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export const load = (name: string): any => createRequire(`${toolsFolder}package.json`)(name);

/** The other runtimes, each with the command that runs a script. */
export const RUNTIMES: [name: string, command: string[]][] = [
  // The oldest that package.json allows. Every other test runs on the version between them.
  ['Node 22.12', [tool('node-22.12/bin/node')]],
  ['Node 26', [tool('node-26/bin/node')]],
  // The oldest that the SDK allows.
  ['Bun 1.4.0', [tool('bun-1.4/bin/bun')]],
  ['Bun', [tool('bun-latest/bin/bun')]],
  ['Deno', [tool('deno-latest/deno'), 'run', '--allow-all']],
];
