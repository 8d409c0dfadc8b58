// Installs the libraries of test/orms before all tests, if they are missing.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isCi, lacks } from './skips.ts';

export const folder = fileURLToPath(new URL('../orms/', import.meta.url));

/** Prisma is larger than all other libraries together, so only CI installs it. */
export const hasPrisma = isCi || existsSync(`${folder}prisma/generated`);
/** Prisma generates a separate client for MySQL. */
export const hasPrismaOverMysql = isCi || existsSync(`${folder}prisma/mysql/generated`);
export const hasOrms = (): boolean => existsSync(`${folder}node_modules`);

/** The folders of Prisma's clients, each with the arguments that generate it. */
const CLIENTS = [['generated'], ['mysql/generated', '--schema', 'mysql/schema.prisma']] as const;

const npm = (args: string[], cwd: string) =>
  // On Windows npm is a script, which only a shell runs.
  execFileSync('npm', args, { cwd, shell: process.platform === 'win32', stdio: 'pipe', timeout: 240_000 });

/** Installs the package of a folder. */
export const installIn = (folder: string, ...command: string[]) =>
  npm([...(command.length > 0 ? command : ['ci']), '--ignore-scripts', '--no-audit', '--no-fund'], folder);

export default function install(): void {
  lacks(isCi, 'the shops of most ORMs, which CI runs');
  try {
    if (!hasOrms()) installIn(folder);
    if (!isCi) return;
    if (!existsSync(`${folder}prisma/node_modules`)) installIn(`${folder}prisma`);
    // Otherwise Prisma downloads an engine for migrations.
    process.env.PRISMA_SCHEMA_ENGINE_BINARY = process.execPath;
    for (const [generated, ...schema] of CLIENTS) {
      if (existsSync(`${folder}prisma/${generated}`)) continue;
      npm(['exec', '--', 'prisma', 'generate', ...schema], `${folder}prisma`);
    }
  } catch (error) {
    // Their tests are skipped with a warning, or fail in CI.
    console.warn(String(error));
  }
}
