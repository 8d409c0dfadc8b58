// Installs test/tools before the tests that need it. `node test/support/install.ts` does so for the compiler, the bench and the site.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const ormsFolder = `${root}test/orms/`;
export const toolsFolder = `${root}test/tools/`;
export const shopFolder = `${root}examples/shop/`;

/** Folders that import packages of test/tools by name. */
const USERS = ['bench', 'docs/site', 'examples', 'test'];

/** Path of a file of the tools. */
export const tool = (path: string): string => join(toolsFolder, 'node_modules', path);
export const isInstalled = (name: string): boolean => existsSync(tool(name));
export const isShopInstalled = (): boolean => existsSync(`${shopFolder}node_modules/payment-gateway-sdk`);

/** The folders of Prisma's clients, each with the arguments that generate it. */
const CLIENTS = [['generated'], ['mysql/generated', '--schema', 'mysql/schema.prisma']] as const;
export const [hasPrisma, hasPrismaOverMysql] = CLIENTS.map(([made]) => existsSync(`${ormsFolder}prisma/${made}`));

// `ci` would fetch binaries of optional parts for every platform in these lock files.
const npm = (cwd: string, ...args: string[]) =>
  // On Windows npm is a script, which only a shell runs.
  execFileSync('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', ...args], {
    cwd,
    shell: process.platform === 'win32',
    stdio: 'pipe',
  });

/** Links each package that test/tools names, but none of theirs: versions of those may differ from the root's. */
function linkTools(user: string): void {
  rmSync(user, { recursive: true, force: true });
  const { dependencies, devDependencies } = JSON.parse(readFileSync(`${toolsFolder}package.json`, 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...devDependencies }).filter(isInstalled)) {
    mkdirSync(dirname(join(user, name)), { recursive: true });
    symlinkSync(tool(name), join(user, name), 'junction');
  }
}

/** Installs after each change of the lock file. @param isFull with Prisma and all else that only test:full needs */
function installTools(isFull: boolean): void {
  const users = USERS.map(user => `${root}${user}/node_modules`);
  const changedAt = (file: string) => (existsSync(file) ? statSync(file).mtimeMs : 0);
  const isCurrent = changedAt(tool('.package-lock.json')) > changedAt(`${toolsFolder}package-lock.json`);
  if (isCurrent && users.every(existsSync) && (!isFull || isInstalled('prisma'))) return;
  // The vitest of this repository is the peer of Stryker's runner.
  npm(toolsFolder, '--omit=peer', ...(isFull || isInstalled('prisma') ? [] : ['--omit=dev', '--omit=optional']));
  users.forEach(linkTools);
}

function generateClients(): void {
  // Otherwise Prisma downloads an engine for migrations.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
  for (const [made, ...schema] of CLIENTS) {
    if (existsSync(`${ormsFolder}prisma/${made}`)) continue;
    const args = [tool('prisma/build/index.js'), 'generate', ...schema];
    execFileSync(process.execPath, args, { cwd: `${ormsFolder}prisma`, env, stdio: 'pipe' });
  }
}

export default function install({ name }: { name: string }): void {
  const isFull = name === 'full';
  try {
    installTools(isFull);
    if (!isFull) return;
    generateClients();
    // The SDK in the shop is this repository.
    if (!isShopInstalled()) npm(shopFolder, '--omit=dev', '../..');
  } catch (error) {
    // The suites that need them are skipped with a warning. In CI they fail.
    console.warn(String(error));
  }
}

if (import.meta.main) installTools(false);
