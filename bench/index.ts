// Measures the targets, and prints one table. With --write it replaces that in docs/contributing/speed.md. With --long it
// measures memory, payouts and upkeep instead. With --profile it prints where the time goes.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { creates } from './creates.ts';
import { imports } from './imports.ts';
import { memory } from './memory.ts';
import { parsing } from './parsing.ts';
import { profiles } from './profile.ts';
import { cellsOf, type Line } from './statistics.ts';
import { stores } from './store.ts';
import { upkeeps } from './upkeep.ts';

if (process.argv.includes('--profile')) {
  console.log(await profiles());
  process.exit();
}

const ROUNDS = 5;
/** Short measurements vary more. */
const SHORT_ROUNDS = 15;
const isLong = process.argv.includes('--long');

const version = (name: string): string => {
  const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`;
};

async function measure(parts: Record<string, () => Promise<Line[]>>): Promise<Line[]> {
  const lines: Line[] = [];
  for (const [name, part] of Object.entries(parts)) {
    const begun = performance.now();
    lines.push(...(await part()));
    console.error(`  ${name}: ${Math.round((performance.now() - begun) / 1000)} s`);
  }
  return lines;
}

const lines = await measure(
  isLong
    ? { memory, upkeep: () => upkeeps(3) }
    : {
        creates: () => creates(ROUNDS),
        parsing: () => parsing(SHORT_ROUNDS),
        imports: () => imports(SHORT_ROUNDS),
        'stores, one at a time': () => stores(3, 1),
        'stores, 16 at a time': () => stores(3, 16),
      },
);

const names = ['measured', 'this SDK', 'next to', 'ratio', 'target', 'spread'];
const rows = [names, names.map(() => '---'), ...lines.map(cellsOf)].map(cells => `| ${cells.join(' | ')} |`);
const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()})`;
const versions = [`Node ${process.versions.node}`, ...['stripe', 'undici'].map(version)].join(', ');
const text = `On ${new Date().toISOString().slice(0, 10)}, with ${versions}, on ${machine}.\n\n${rows.join('\n')}`;

if (process.argv.includes('--write') && !isLong) {
  const page = new URL('../docs/contributing/speed.md', import.meta.url);
  const [begin, end] = ['<!-- seen: targets -->\n\n', '\n\n<!-- end -->'];
  const document = readFileSync(page, 'utf8');
  const from = document.indexOf(begin) + begin.length;
  writeFileSync(page, document.slice(0, from) + text + document.slice(document.indexOf(end, from)));
} else console.log(text);
