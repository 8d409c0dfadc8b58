// Installs the packages of single suites before all tests, unless they are installed.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const ormsFolder = `${root}test/orms/`;
export const toolsFolder = `${root}test/package/tools/`;
export const shopFolder = `${root}examples/shop/`;

// `ci` would fetch binaries of optional parts for every platform in these lock files.
const INSTALL = ['install', '--no-save'];
/** By folder: the command, and a file that it makes. */
const PACKAGES = {
  'test/orms': [['ci']],
  'test/orms/prisma': [['ci']],
  'test/observability': [['ci']],
  'test/schedulers': [INSTALL],
  'test/package/tools': [INSTALL],
  // The SDK in it is this repository.
  'examples/shop': [[...INSTALL, '--omit=dev', '../..'], 'node_modules/payment-gateway-sdk'],
} as const satisfies Record<string, readonly [readonly string[], string?]>;

type Folder = keyof typeof PACKAGES;

export function isInstalled(folder: Folder): boolean {
  const [, made = 'node_modules'] = PACKAGES[folder] as readonly [readonly string[], string?];
  return existsSync(`${root}${folder}/${made}`);
}

/** The folders of Prisma's clients, each with the arguments that generate it. */
const CLIENTS = [['generated'], ['mysql/generated', '--schema', 'mysql/schema.prisma']] as const;
export const [hasPrisma, hasPrismaOverMysql] = CLIENTS.map(([made]) => existsSync(`${ormsFolder}prisma/${made}`));

const npm = (folder: string, ...args: string[]) =>
  // On Windows npm is a script, which only a shell runs.
  execFileSync('npm', args, { cwd: root + folder, shell: process.platform === 'win32', stdio: 'pipe' });

/** The servers use the libraries without Prisma, which is larger than all others together. */
export default function install({ name }: TestProject): void {
  const isFull = name === 'full';
  try {
    for (const folder of isFull ? (Object.keys(PACKAGES) as Folder[]) : (['test/orms'] as const)) {
      const [command] = PACKAGES[folder];
      if (!isInstalled(folder)) npm(folder, ...command, '--ignore-scripts', '--no-audit', '--no-fund');
    }
    // Otherwise Prisma downloads an engine for migrations.
    process.env.PRISMA_SCHEMA_ENGINE_BINARY = process.execPath;
    for (const [made, ...schema] of isFull ? CLIENTS : []) {
      if (existsSync(`${ormsFolder}prisma/${made}`)) continue;
      npm('test/orms/prisma', 'exec', '--', 'prisma', 'generate', ...schema);
    }
  } catch (error) {
    // The suites that need them are skipped with a warning. In CI they fail.
    console.warn(String(error));
  }
}
