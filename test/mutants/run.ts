// npm run mutants: changes the source in small ways, one at a time, and tells which changes no test notices.
// `npm run mutants -- payments http` tries these rooms only; `--fresh` forgets what earlier runs found out; `--last` tries
// nothing, and tells what the last run found out; `--write` writes docs/mutation.md.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isCaught, type Outcome, outcomeOf, type Report } from './outcome.ts';
import { writePage } from './page.ts';
import { ROOMS, type Room } from './rooms.ts';
import { STORES, type StoresReport, tryStores } from './stores.ts';
import { SURVIVORS } from './survivors.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const stryker = 'test/mutants/node_modules/@stryker-mutator/core/bin/stryker.js';
/** Ignored by git. */
const folder = '.stryker-tmp';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fresh: { type: 'boolean' }, last: { type: 'boolean' }, write: { type: 'boolean' } },
});
const names = [...ROOMS.map(({ name }) => name), STORES];
const unknown = positionals.find(name => !names.includes(name));
if (unknown) throw new Error(`There is no room "${unknown}". There are: ${names.join(', ')}.`);
const wanted = positionals.length > 0 ? positionals : names;

process.chdir(root);
mkdirSync(folder, { recursive: true });

const reportOf = (name: string): string => `${folder}/${name}.report.json`;
const readReport = (name: string) => JSON.parse(readFileSync(reportOf(name), 'utf8'));

/** What survived is tried again: of a mutant of a module's own constants Stryker does not see which new tests reach it. */
function keepCaught(known: string): void {
  const report: Report = JSON.parse(readFileSync(known, 'utf8'));
  for (const file of Object.values(report.files)) file.mutants = file.mutants.filter(isCaught);
  writeFileSync(known, JSON.stringify(report));
}

/** Makes the report of a room. */
function tryRoom(room: Room): void {
  const report = reportOf(room.name);
  const known = `${folder}/${room.name}.known.json`;
  const config = `${folder}/${room.name}.config.json`;
  if (values.fresh) rmSync(known, { force: true });
  if (existsSync(known)) keepCaught(known);
  rmSync(report, { force: true });
  writeFileSync(
    config,
    JSON.stringify({
      testRunner: 'vitest-quick',
      plugins: ['@stryker-mutator/vitest-runner', './test/mutants/runner.mjs'],
      vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
      coverageAnalysis: 'perTest',
      mutate: room.mutate,
      concurrency: Number(process.env.MUTANTS_WORKERS ?? 2),
      timeoutMS: 8_000,
      dryRunTimeoutMinutes: 120,
      disableTypeChecks: false,
      tempDirName: folder,
      ignorePatterns: ['docs/images', 'bench', 'coverage', 'dist'],
      incremental: true,
      incrementalFile: known,
      reporters: ['json', 'progress-append-only'],
      jsonReporter: { fileName: report },
    }),
  );
  const caught = fileURLToPath(new URL(`../../${folder}/${room.name}.caught`, import.meta.url));
  const run = (step: string, ...args: string[]) =>
    spawnSync(process.execPath, [stryker, 'run', config, ...args], {
      stdio: 'inherit',
      env: { ...process.env, MUTANTS_ROOM: room.name, MUTANTS_STEP: step, MUTANTS_CAUGHT: caught },
    });
  // Stryker reckons its time-outs by what the first run of the tests takes: so what is quick has a run of its own.
  if (run('quick', '--dryRunOnly').status !== 0) throw new Error(`The tests of ${room.name} fail without any mutant.`);
  if (run('rest').status !== 0 || !existsSync(report)) throw new Error(`Stryker could not try ${room.name}.`);
}

function outcomeIn(name: string): Outcome {
  const room = ROOMS.find(each => each.name === name);
  if (room) {
    if (!values.last) tryRoom(room);
    return outcomeOf(room, readReport(name) as Report, SURVIVORS);
  }
  if (!values.last) {
    const known = values.fresh || !existsSync(reportOf(name)) ? [] : (readReport(name) as StoresReport).caught;
    writeFileSync(reportOf(name), JSON.stringify(tryStores(folder, known)));
  }
  return readReport(name) as StoresReport;
}

const outcomes: Outcome[] = [];
for (const name of wanted) {
  const began = Date.now();
  const outcome = outcomeIn(name);
  outcomes.push(outcome);
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`\n${name}: ${outcome.killed} of ${outcome.mutants} caught (${outcome.score} %) in ${seconds} s`);
  for (const line of outcome.complaints) console.log(`  ${line}`);
}
if (values.write) writePage(outcomes);
process.exitCode = outcomes.some(({ complaints }) => complaints.length > 0) ? 1 : 0;
