// How Stryker runs the tests of one room: as the project `unit` does, in the order of rooms.ts.
import { isAbsolute, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import whole from '../../vitest.config.ts';
import { ROOMS } from './rooms.ts';

const room = ROOMS.find(({ name }) => name === process.env.MUTANTS_ROOM);
if (!room) throw new Error('Set MUTANTS_ROOM to a room of test/mutants/rooms.ts.');
const { tests } = room;
const hasServers = tests.some(test => test.startsWith('test/stores/'));
// What the adapters of the others do must be tried, too.
if (hasServers) process.env.PAYMENT_GATEWAY_EVERY_LIBRARY = '1';

/** Vitest would begin with the largest file. What ends a run soonest is the room's own tests. */
class InTheirOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const file = isAbsolute(moduleId) ? relative(process.cwd(), moduleId) : moduleId;
      const exact = tests.indexOf(file.replaceAll('\\', '/'));
      return exact < 0 ? tests.findIndex(test => test.includes('*')) : exact;
    };
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  resolve: whole.resolve ?? {},
  test: {
    css: true,
    tags: whole.test?.tags ?? [],
    include: [...tests],
    isolate: false,
    ...(process.env.MUTANTS_PLAN && { runner: './test/mutants/quick-runner.ts', pool: 'threads', maxWorkers: 1 }),
    sequence: { sequencer: InTheirOrder },
    // What fails only now and then, on a machine that others use too, has caught nothing.
    retry: 1,
    // A mutant often leaves something waiting for ever: it is caught by then.
    testTimeout: 8_000,
    expect: { poll: { timeout: 5_000 } },
    setupFiles: ['./test/support/matchers.ts', './test/support/loaded.ts'],
    // Each mutant meets the same values, also in CI.
    env: { PAYMENT_GATEWAY_SEED: '20261123' },
    // What the servers' tests have, in rooms that have some of them.
    ...(hasServers && {
      globalSetup: ['test/support/install-orms.ts', 'test/support/mariadb-setup.ts'],
    }),
  },
});
