import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { isCi } from './test/support/skips.ts';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

/** With real stores and processes. */
const SERVERS = [
  'test/stores/*.test.ts',
  'test/examples/*.test.ts',
  'test/schedulers/*.test.ts',
  'test/observability/*.test.ts',
  'test/openapi/*.test.ts',
  'test/types/*.test.ts',
  'test/expectations.test.ts',
  'test/{cli,sandbox}/cli.test.ts',
  'test/cli/run.test.ts',
  'test/sandbox/{run,serve,server}.test.ts',
  'test/contract.test.ts',
  'test/outside/*.test.ts',
  'test/properties/created-at.test.ts',
  'test/http/{agent,connection*}.test.ts',
  'test/webhooks/{flood,node}.test.ts',
  'test/soak/soak.test.ts',
];
/** What changes its process: the examples of the documents its environment, and Hono's server its `Request` and `Response`. */
const ALONE = ['test/docs/{examples,problems,first,proxies}.test.ts', 'test/webhooks/hostile.test.ts'];
/** A shop over each library of docs/databases.md. */
const ORMS = 'test/orms/*/*.test.ts';
/** The libraries that run on every machine. CI runs all. */
const SOME_ORMS = '{drizzle,kysely,mysql2,types}';
/** In Chromium: not part of npm test, which has taken its time by then. */
const BROWSER = 'test/browser/*.test.ts';
/** After a build. */
const PACKAGE = 'test/package/*.test.ts';
/** The documentation as a site: no part of it either. */
const SITE = 'test/site/site.test.ts';

/**
 * How many files of servers, pages and packages run at once, of which some wait. CI, which plays outages as well, has the
 * time for one file of servers after the other. Those of one group share the workers, so they must name the same number.
 */
const together = 2 * Math.max(2, availableParallelism());
const ofServers = { maxWorkers: isCi ? 1 : together };
const ofPackages = { maxWorkers: isCi ? 2 : together };

export default defineConfig({
  resolve: {
    // Tests and examples import the package by its name, and get its source.
    alias: [
      { find: 'payment-gateway-sdk/postgres', replacement: source('postgres/index.ts') },
      { find: 'payment-gateway-sdk/mysql', replacement: source('mysql/index.ts') },
      { find: 'payment-gateway-sdk/otel', replacement: source('otel/index.ts') },
      { find: 'payment-gateway-sdk/testing', replacement: source('testing/index.ts') },
      { find: 'payment-gateway-sdk/sandbox', replacement: source('sandbox/index.ts') },
      { find: 'payment-gateway-sdk', replacement: source('index.ts') },
    ],
  },
  test: {
    // Without this, a style sheet that is imported as text would be empty.
    css: true,
    tags: [
      {
        name: 'long',
        description: 'Takes more than a twentieth of a second: npm test plays it, and test:unit does not.',
      },
    ],
    coverage: { include: ['src/**/*.ts'] },
    setupFiles: ['test/support/matchers.ts'],
    // What is polled comes, on a machine where others compute too after some seconds.
    expect: { poll: { timeout: 10_000 } },
    // Some start a server of their own, which takes long where others compute too.
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...SERVERS, ...ALONE, ORMS, BROWSER, PACKAGE, SITE, '**/node_modules/**'],
          // Loading the SDK anew for each file would take a third of the time.
          isolate: false,
          // No test may need another one before it; a failure is played again with --sequence.seed, which is printed.
          // Before all others, which have another number of workers.
          sequence: { shuffle: true, groupOrder: 0 },
          // Vitest would leave one to itself, and of two that is half.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          // Most of them compute, which takes longer where others do, too.
          testTimeout: 20_000,
          setupFiles: ['test/support/loaded.ts'],
        },
      },
      // Before the others, whose packages are installed while this one is packed.
      {
        extends: true,
        test: {
          name: 'package',
          include: [PACKAGE],
          ...ofPackages,
          // Beside the servers; in CI after them.
          sequence: { groupOrder: isCi ? 2 : 1, shuffle: { tests: true } },
          globalSetup: ['test/support/install-tools.ts', 'test/package/pack.ts'],
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'servers',
          include: SERVERS,
          // As in unit. The longest files begin.
          sequence: { groupOrder: 1, shuffle: { tests: true } },
          ...ofServers,
          // They start processes, which takes longer where others do, too.
          testTimeout: 60_000,
          globalSetup: [
            'test/support/install-orms.ts',
            'test/support/install-suites.ts',
            'test/support/mariadb-setup.ts',
          ],
          // To load all anew for each file takes a sixth of the time, which CI has.
          isolate: isCi,
          setupFiles: ['test/support/customer-watch.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          sequence: { groupOrder: 1, shuffle: { tests: true } },
          ...ofServers,
          testTimeout: 60_000,
          setupFiles: ['test/support/customer-watch.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'orms',
          ...ofServers,
          include: [isCi ? ORMS : ORMS.replace('*', SOME_ORMS)],
          exclude: ['**/node_modules/**'],
          sequence: { groupOrder: 1, shuffle: { tests: true } },
          testTimeout: 30_000,
          globalSetup: ['test/support/install-orms.ts', 'test/support/mariadb-setup.ts'],
          setupFiles: ['test/support/orm-schema.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: [BROWSER],
          ...ofPackages,
          sequence: { groupOrder: 3, shuffle: { tests: true } },
          testTimeout: 30_000,
          globalSetup: 'test/support/install-shop.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'site',
          include: [SITE],
          sequence: { groupOrder: 3, shuffle: { tests: true } },
          globalSetup: 'test/site/build.ts',
          testTimeout: 120_000,
        },
      },
    ],
  },
});
