/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  plugins: [import.meta.resolve('@stryker-mutator/vitest-runner')],
  vitest: { configFile: 'test/tools/mutants.vitest.ts', related: false },
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 1_000, // and the overhead of all tests
  incremental: true,
  incrementalFile: '.stryker-tmp/incremental.json',
  reporters: ['progress-append-only', 'json', 'html'],
  jsonReporter: { fileName: '.stryker-tmp/mutants.json' },
  htmlReporter: { fileName: '.stryker-tmp/mutants.html' },
};
