// Runs Stryker over folders of src and writes their scores into a page: node test/tools/mutants.ts payments store
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import install, { tool } from '../support/install.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = `${root}docs/contributing/mutants.md`;
const HEAD = '| folder | mutants | killed | score |\n| --- | --- | --- | --- |\n';

/** Returns the folder's row. A mutant that runs into a timeout is killed. */
function measure(folder: string): string {
  const config = ['run', 'test/tools/mutants.config.mjs', '--mutate', `src/${folder}/**/*.ts`];
  const { status } = spawnSync(process.execPath, [tool('@stryker-mutator/core/bin/stryker.js'), ...config], {
    cwd: root,
    env: { ...process.env, MUTATED_FOLDER: folder },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`Stryker failed in ${folder}`);
  const { files } = JSON.parse(readFileSync(`${root}.stryker-tmp/mutants.json`, 'utf8'));
  const found = Object.entries<{ mutants: { status: string }[] }>(files).flatMap(([file, { mutants }]) =>
    file.startsWith(`src/${folder}/`) ? mutants : [],
  );
  const count = (...statuses: string[]) => found.filter(({ status }) => statuses.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const all = killed + count('Survived', 'NoCoverage');
  return `| \`${folder}\` | ${all} | ${killed} | ${((100 * killed) / all).toFixed(1)}% |`;
}

install({ name: 'full' });
for (const folder of process.argv.slice(2)) {
  const row = measure(folder);
  const [before = '', table = ''] = readFileSync(page, 'utf8').split(HEAD);
  const rows = table.split('\n').filter(line => line && !line.startsWith(`| \`${folder}\``));
  writeFileSync(page, `${before}${HEAD}${[...rows, row].sort().join('\n')}\n`);
}
