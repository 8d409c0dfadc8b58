// A test runner of Stryker: Stryker's own for Vitest, before which quick-runner.ts catches what is quickly caught.
import { spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { commonTokens, declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import { strykerPlugins as vitestPlugins } from '@stryker-mutator/vitest-runner';

const [{ factory }] = vitestPlugins;

/** Written by the first step, read by the second one; both are started by run.ts. */
const caughtFile = process.env.MUTANTS_CAUGHT ?? '';
const workers = Number(process.env.MUTANTS_WORKERS ?? 2);
const isFirstStep = process.env.MUTANTS_STEP === 'quick';

/** Milliseconds that nothing may happen in: a mutant keeps the process busy for ever. */
const LONGEST_SILENCE = 40_000;

const linesOf = file => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);

/** @returns the mutant at work when the run stood still, if it did */
async function playOnce(plan) {
  const planFile = `${plan.workFile}.plan`;
  writeFileSync(planFile, JSON.stringify(plan));
  writeFileSync(plan.workFile, '');
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutants/vitest.config.ts'];
  const log = openSync(`${caughtFile}.log`, 'a');
  const env = { ...process.env, MUTANTS_PLAN: planFile };
  const child = spawn(process.execPath, args, { stdio: ['ignore', log, log], env });
  const ended = new Promise(resolve => child.on('close', () => resolve(undefined)));
  let stopped;
  const watch = setInterval(() => {
    if (Date.now() - statSync(plan.workFile).mtimeMs < LONGEST_SILENCE) return;
    stopped = readFileSync(plan.workFile, 'utf8');
    child.kill('SIGKILL');
  }, 2_000);
  await ended;
  clearInterval(watch);
  return stopped;
}

/** @param isOurs which mutants, so that several processes share them out */
async function playQuickly({ perTest, static: atStart }, workFile, isOurs) {
  const playedFile = `${workFile}.played`;
  rmSync(playedFile, { force: true });
  const reached = Object.fromEntries(
    Object.entries(perTest).map(([test, hits]) => [
      test,
      // What has run before any test is for Stryker, which starts anew.
      Object.fromEntries(Object.entries(hits).filter(([id]) => !(id in atStart) && isOurs(Number(id)))),
    ]),
  );
  const stopping = [];
  for (;;) {
    const done = [...stopping, ...linesOf(caughtFile).map(line => JSON.parse(line).id)];
    const stopped = await playOnce({ reached, done, caughtFile, workFile, playedFile });
    if (stopped === undefined) return;
    stopping.push(stopped);
    for (const test of linesOf(playedFile)) delete reached[test];
  }
}

async function playAll(coverage) {
  writeFileSync(caughtFile, '');
  writeFileSync(`${caughtFile}.log`, '');
  const shares = Array.from({ length: workers }, (_, share) =>
    playQuickly(coverage, `${caughtFile}.work-${share}`, id => id % workers === share),
  );
  await Promise.all(shares);
}

function createRunner(injector) {
  const own = factory(injector);
  let caught;
  return {
    capabilities: () => own.capabilities(),
    init: () => own.init(),
    dispose: () => own.dispose(),

    async dryRun(options) {
      const result = await own.dryRun(options);
      if (isFirstStep && result.mutantCoverage) await playAll(result.mutantCoverage);
      return result;
    },

    async mutantRun(options) {
      caught ??= new Map(linesOf(caughtFile).map(line => [JSON.parse(line).id, JSON.parse(line)]));
      const found = caught.get(options.activeMutant.id);
      if (!found) return own.mutantRun(options);
      if (found.isLate) return { status: 'timeout', reason: found.message };
      return { status: 'killed', killedBy: [found.test], failureMessage: found.message, nrOfTests: 1 };
    },
  };
}
createRunner.inject = tokens(commonTokens.injector);

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'vitest-quick', createRunner)];
