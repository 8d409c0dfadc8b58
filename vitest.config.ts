import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** With real stores and processes, and the documents. */
const SERVERS = [
  'test/{stores,examples,openapi,types,outside}/*.test.ts',
  'test/observability/recipes.test.ts',
  'test/docs/{examples,problems,first,proxies}.test.ts',
  'test/{cli,sandbox}/{cli,run}.test.ts',
  'test/sandbox/{serve,server}.test.ts',
  'test/{contract,properties/created-at}.test.ts',
  'test/http/{agent,connection*}.test.ts',
  'test/webhooks/{flood,hostile,node}.test.ts',
];
/** After a build. */
const PACKAGE = 'test/package/{package,source-maps}.test.ts';
/** Slow variants, which only `npm run test:full` runs. */
const SLOW = [
  'test/{browser,schedulers}/*.test.ts',
  'test/orms/*/*.test.ts',
  'test/observability/installed.test.ts',
  'test/{site/site,soak/soak}.test.ts',
  'test/stores/{crowd,mysql-cluster,outages}.test.ts',
  'test/package/!(package|source-maps).test.ts',
];
/** Files that `npm run test:full` repeats with more values, processes, databases and libraries. */
const REPEATED = [
  'test/properties/*.test.ts',
  'test/{store/{model,plan},upkeep/sweep,schemas/parse-payment,webhooks/model}.test.ts',
  'test/stores/{crash,mysql-hazards,orms,processes,upkeep}.test.ts',
  'test/examples/examples.test.ts',
];

delete process.env.FORCE_COLOR; // CI may ask for colours, which programs under test would print
const cores = Math.max(2, availableParallelism());

/** Tests do not depend on each other. To repeat a failure, pass the printed --sequence.seed. */
const project = (name: string, maxWorkers: number, groupOrder: number, own: object) => ({
  extends: true as const,
  test: {
    name,
    maxWorkers,
    sequence: { groupOrder, shuffle: { files: groupOrder === 0, tests: true } },
    testTimeout: 120_000,
    ...own,
  },
});

export default defineConfig({
  // Tests and examples import the package by its name and get its source.
  resolve: {
    alias: [
      {
        find: /^payment-gateway-sdk(\/(?:postgres|mysql|otel|testing|sandbox))?$/,
        replacement: `${fileURLToPath(new URL('src', import.meta.url))}$1/index.ts`,
      },
    ],
  },
  test: {
    execArgv: ['--no-warnings'], // tests that expect one look at process.emitWarning
    css: true, // otherwise an imported style sheet is empty
    tags: [{ name: 'long', description: 'Takes more than 50 ms. test:unit leaves it out.' }],
    expect: { requireAssertions: true, poll: { timeout: 60_000 } },
    hookTimeout: 120_000,
    projects: [
      project('unit', Math.max(2, cores - 1), 0, {
        include: ['test/**/*.test.ts'],
        exclude: [...SERVERS, PACKAGE, ...SLOW, '**/node_modules/**'],
        // Loading the SDK for each file would take a third of the time.
        isolate: false,
        setupFiles: 'test/support/loaded.ts',
      }),
      project('servers', 2 * cores, 1, {
        include: SERVERS,
        exclude: SLOW,
        isolate: false,
        globalSetup: ['test/support/install.ts', 'test/support/mariadb-setup.ts'],
      }),
      project('package', 2 * cores, 1, { include: [PACKAGE], globalSetup: 'test/package/pack.ts' }),
      // Outages and many processes need the machine for themselves.
      project('full', 1, 2, {
        include: [...SLOW, ...REPEATED],
        exclude: ['**/node_modules/**'],
        env: { PAYMENT_GATEWAY_FULL: '1' },
        globalSetup: ['test/support/mariadb-setup.ts', 'test/package/pack.ts'],
      }),
    ],
  },
});
