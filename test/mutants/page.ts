// Writes docs/mutation.md. Rooms that were not tried in this run keep the row that they have.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type Outcome, percent } from './outcome.ts';
import { ROOMS } from './rooms.ts';
import { STORES } from './stores.ts';

const PAGE = 'docs/mutation.md';

/** A row of the table. */
interface Row {
  name: string;
  mutants: number;
  killed: number;
  listed: number;
  date: string;
}

/** The rows that the page has, by room. */
function rowsOf(page: string): Map<string, Row> {
  const rows = page.matchAll(/^\| `([\w-]+)` \| (\d+) \| (\d+) \| [\d.]+ \| \d+ \| (\d+) \| [\d.]+ \| ([\d-]+) \|$/gm);
  return new Map(
    Array.from(rows, ([, name = '', mutants, killed, listed, date = '']) => [
      name,
      { name, mutants: Number(mutants), killed: Number(killed), listed: Number(listed), date },
    ]),
  );
}

const lineOf = ({ name, mutants, killed, listed, date }: Row, atLeast: number): string =>
  `| \`${name}\` | ${mutants} | ${killed} | ${percent(killed, mutants)} | ${atLeast} | ${listed} | ${percent(killed, mutants - listed)} | ${date} |`;

const sumOf = (rows: readonly Row[], of: 'mutants' | 'killed' | 'listed'): number =>
  rows.reduce((sum, row) => sum + row[of], 0);

export function writePage(outcomes: readonly Outcome[]): void {
  const rows = rowsOf(existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '');
  const date = new Date().toISOString().slice(0, 10);
  for (const { name, mutants, killed, listed } of outcomes) rows.set(name, { name, mutants, killed, listed, date });
  const all = [...ROOMS, { name: STORES, atLeast: 100 }];
  const tried = all.flatMap(({ name, atLeast }) => {
    const row = rows.get(name);
    return row ? [{ row, atLeast }] : [];
  });
  const missing = ROOMS.filter(({ name }) => !rows.has(name)).map(({ name }) => `\`${name}\``);
  const of = tried.map(({ row }) => row);
  const [mutants, killed] = [sumOf(of, 'mutants'), sumOf(of, 'killed')];
  writeFileSync(
    PAGE,
    `# Mutation testing

Written by \`npm run mutants -- --write\`. A mutant is the source with one small change: a condition turned round, a call left
out, a text made empty. The tests are run against each. A mutant that no test notices survives: either a test is missing, or
the change makes no difference.

[StrykerJS](https://stryker-mutator.io) makes the mutants of \`src\`, room by room, and runs unit tests; in the rooms of the
databases also tests that need Postgres and MariaDB. Those of \`${STORES}\` are
[made by hand](../test/mutants/store-mutants.ts): SQL and what is around them, of which Stryker can only make an empty text.

| room | mutants | caught | caught, % | at least, % | survivors that are listed | caught of all others, % | tried on |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
${tried.map(({ row, atLeast }) => lineOf(row, atLeast)).join('\n')}

Together: ${killed} of ${mutants}, ${percent(killed, mutants)} %.${
      missing.length > 0 ? ` Not tried to the end yet: ${missing.join(', ')}.` : ''
    } What each room is, and which tests it is tried
with, is in [rooms.ts](../test/mutants/rooms.ts). In no room are the sandbox's pages, the two
files that start a command (\`main.ts\`), and \`src/testing\`, which is itself tests: the mutants of \`stores\` are what its
suites must notice.

The run fails below "at least". In rooms where survivors are listed, it fails also for a survivor that is not in
[survivors.ts](../test/mutants/survivors.ts), which says of each why no test catches it, and for an entry there that is caught.
A mutant that makes a test wait for ever counts as caught.

Stryker starts anew for each mutant, which takes a second or more. So [most are caught before](../test/mutants/quick-runner.ts), in
one process: there a mutant is caught if a test fails with it, passes without it, and fails with it again. Stryker tries the
rest. A second run keeps what the first one has caught, and tries the rest again; \`--fresh\` forgets it.
`,
  );
}
