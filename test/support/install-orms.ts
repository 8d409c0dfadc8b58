// Installs the libraries of test/orms, once before all tests, unless they are there.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isCi, lacks } from './skips.ts';

export const folder = fileURLToPath(new URL('../orms/', import.meta.url));

/** Prisma is larger than all the others together: CI has it, and who has installed it. */
export const hasPrisma = isCi || existsSync(`${folder}prisma/generated`);
/** Prisma's client for MySQL is generated beside that for Postgres. */
export const hasPrismaOverMysql = isCi || existsSync(`${folder}prisma/mysql/generated`);
export const hasOrms = (): boolean => existsSync(`${folder}node_modules`);

/** What is generated for Prisma, and the arguments that generate it. */
const CLIENTS = [['generated'], ['mysql/generated', '--schema', 'mysql/schema.prisma']] as const;

const npm = (args: string[], cwd: string) =>
  // On Windows npm is a script, which only a shell runs.
  execFileSync('npm', args, { cwd, shell: process.platform === 'win32', stdio: 'pipe', timeout: 240_000 });

/** Installs the package of a folder. */
export const installIn = (folder: string, ...command: string[]) =>
  npm([...(command.length > 0 ? command : ['ci']), '--ignore-scripts', '--no-audit', '--no-fund'], folder);

export default function install(): void {
  lacks(isCi, 'the pages of most ORMs, which CI plays');
  try {
    if (!hasOrms()) installIn(folder);
    if (!isCi) return;
    if (!existsSync(`${folder}prisma/node_modules`)) installIn(`${folder}prisma`);
    // It would load an engine for migrations from afar, which nothing here needs.
    process.env.PRISMA_SCHEMA_ENGINE_BINARY = process.execPath;
    for (const [generated, ...schema] of CLIENTS) {
      if (existsSync(`${folder}prisma/${generated}`)) continue;
      npm(['exec', '--', 'prisma', 'generate', ...schema], `${folder}prisma`);
    }
  } catch (error) {
    // Whatever needs them skips with a loud line, or fails in CI.
    console.warn(String(error));
  }
}
