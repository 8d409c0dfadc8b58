// The tests in which Stryker looks for mutants: the unit tests, and those of real connections that a folder needs.
import { defineConfig } from 'vitest/config';
import config from '../../vitest.config.ts';

interface Project {
  test: { exclude: string[]; testTimeout: number };
}

const [unit, servers] = (config.test?.projects ?? []) as unknown as [Project, Project];
// Stryker rewrites the source, so tests of its text would fail.
unit.test.exclude.push('test/{docs,cli,sandbox,site,soak}/**', 'test/architecture.test.ts');
// A mutant may wait in vain.
unit.test.testTimeout = 5_000;

const STORES =
  'test/stores/{effect-uncertain,mysql-{attacks,hazards},postgres-{effects,store,suites},sql-database}.test.ts';
/** Quick tests over sockets and databases. The others start processes, which run no mutant, or wait for seconds. */
const QUICK: Record<string, string[]> = {
  http: ['test/http/{agent,connection,connection-{pool,reuse,rows}}.test.ts'],
  sql: [STORES],
  postgres: [STORES],
  mysql: [STORES],
  webhooks: ['test/webhooks/node.test.ts'],
};
const folder = process.env.MUTATED_FOLDER ?? '';
const include = QUICK[folder] ?? [];
const globalSetup = include.includes(STORES) ? ['test/support/mariadb-setup.ts'] : [];
// Loaded before a test, code of modules is static: Stryker ignores its mutants.
Object.assign(servers.test, { include, testTimeout: 5_000, globalSetup, setupFiles: 'test/support/loaded.ts' });

const projects = include.length > 0 ? [unit, servers] : [unit];
export default defineConfig({ ...config, test: { ...config.test, projects } });
