// What a consumer does with an app: runs commands, compiles it, tests it.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** On Windows npm and the tools are scripts, which only a shell runs. */
const shell = process.platform === 'win32';

/**
 * @returns what the command printed
 * @throws with all that it printed: Yarn and tsc complain on stdout
 */
export function run(command: string, args: string[], cwd: string, env: Record<string, string> = {}): string {
  try {
    return execFileSync(command, args, {
      shell: shell && command !== process.execPath,
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 300_000,
      env: { ...process.env, NODE_ENV: '', ...env },
    });
  } catch (error) {
    const { message, stdout = '' } = error as Error & { stdout?: string };
    throw Object.assign(error as Error, { message: `${message}\n${stdout}` });
  }
}

/** What asks a registry, and may be asked again: it has failed now and then. */
export function fetching(...command: Parameters<typeof run>): string {
  try {
    return run(...command);
  } catch (error) {
    console.warn(error);
    return run(...command);
  }
}

/** A tool of this repository. */
export const bin = (name: string) => join(root, 'node_modules/.bin', name);

/** Makes the app a project for the compiler. */
export function typedProject(app: string, files: string | readonly string[], options: object = { noEmit: true }): void {
  const common = {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2024', 'dom'],
    strict: true,
    exactOptionalPropertyTypes: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  // The requests that compile, and those that must not.
  for (const file of [files].flat().filter(name => name.startsWith('requests.'))) {
    copyFileSync(join(root, 'test/types/requests.ts'), join(app, file));
  }
  const config = { compilerOptions: { ...common, ...options }, files: [files].flat() };
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify(config));
}

/** The example of a checkout test for a runner, alone in a folder of the app. @returns the folder */
export function checkoutTest(app: string, runner: string): string {
  const examples = join(root, 'examples/testing');
  const folder = join(app, runner);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const file = readdirSync(examples).find(name => name.includes(`.${runner}.`)) ?? '';
  copyFileSync(join(examples, file), join(folder, file));
  return folder;
}
