// The rooms of the house, and which way the doors open.
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const files = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => name.replaceAll('\\', '/'));

/** `from 'x'` of each import and re-export, and `import('x')`; types too, unless they alone are wanted out. */
function importsOf(file: string, { types = true } = {}): string[] {
  const text = readFileSync(new URL(`src/${file}`, root), 'utf8');
  const named = [...text.matchAll(/^(?:import|export)\s(type\s)?(?:[^'";]*?\sfrom\s)?'([^']+)'/gm)]
    .filter(([, type]) => types || !type)
    .map(([, , name = '']) => name);
  const later = types ? [...text.matchAll(/\bimport\('([^'?]+)'\)/g)].map(([, name = '']) => name) : [];
  return [...named, ...later].map(name =>
    name.startsWith('.') ? posix.join(posix.dirname(file), name) : `npm:${name}`,
  );
}

const isIn =
  (...folders: string[]) =>
  (file: string) =>
    folders.some(folder => file.startsWith(folder));
const isNotIn =
  (...folders: string[]) =>
  (file: string) =>
    !isIn(...folders)(file);

const DRIVER = /^npm:(?!node:|zod$)/;
const FURTHER = /^npm:(?!node:|zod$|ky$)/;

describe('imports', () => {
  it.each([
    ['only http/client.ts knows ky', (file: string) => file !== 'http/client.ts', /^npm:ky$/],
    ['errors.ts imports nothing but types', isIn('errors.ts'), /./],
    ['http-statuses.ts imports nothing', isIn('http-statuses.ts'), /./],
    ['waiting imports nothing but waiting', isIn('deadline.ts', 'limit.ts'), /^(?!deadline\.ts$)/],
    ['schemas import zod, errors and each other', isIn('schemas/'), /^(?!npm:zod$|schemas\/|errors\.ts$)/],
    [
      'the store knows no client, no HTTP, no callback and no SQL',
      isIn('store/'),
      /^(http|payments|upkeep|webhooks|sql|cli)\//,
    ],
    ['payments know no callback and no database', isIn('payments/'), /^(upkeep|webhooks|sql|postgres|mysql|sandbox)\//],
    ['upkeep knows no callback and no database', isIn('upkeep/'), /^(webhooks|sql|postgres|mysql|sandbox)\//],
    [
      'stores know no driver: pools and clients come by shape',
      isIn('sql/', 'adapters/', 'postgres/', 'mysql/'),
      DRIVER,
    ],
    ['SQL stores know no library and no dialect', isIn('sql/'), /^(adapters|postgres|mysql)\//],
    ['Postgres knows nothing of MySQL', isIn('postgres/'), /^mysql\//],
    ['the sandbox does not know the client', isIn('sandbox/'), /^client(-options)?\.ts$|^(http|store|webhooks)\//],
    ['the client does not know the sandbox', isNotIn('sandbox/'), /^sandbox\//],
    ['only programs and the sandbox need more than zod and ky', isNotIn('sandbox/', 'cli/', 'terminal/'), FURTHER],
    ['nothing needs the suites for stores', isNotIn('testing/'), /^testing\//],
    ['nothing imports an index', () => true, /(^|\/)index\.ts$/],
  ])('%s', (_, applies, forbidden) => {
    const applicable = files.filter(applies);
    expect(applicable.length).toBeGreaterThan(0);
    const broken = applicable.flatMap(file =>
      importsOf(file, { types: file !== 'errors.ts' })
        .filter(name => forbidden.test(name))
        .map(name => `${file} imports ${name}`),
    );
    expect(broken).toEqual([]);
  });

  it('otel loads without zod, which takes longer than all of it', () => {
    const seen = new Set<string>();
    const load = (file: string, path: string[]): string[] => {
      if (seen.has(file)) return [];
      seen.add(file);
      const imports = importsOf(file, { types: false });
      const way = [...path, file];
      return [
        ...(imports.includes('npm:zod') ? [way.join(' → ')] : []),
        ...imports.filter(next => files.includes(next)).flatMap(next => load(next, way)),
      ];
    };
    expect(load('otel/index.ts', [])).toEqual([]);
    expect(seen.size).toBeGreaterThan(1);
  });

  it('are as ARCHITECTURE.md draws them, but for what many rooms use', () => {
    const COMMON = [
      'schemas',
      'option-reader',
      'telemetry',
      'errors',
      'deadline',
      'limit',
      'http-statuses',
      'client-options',
    ];
    const roomOf = (file: string) => file.split(/[./]/)[0] ?? '';
    const edges = new Set<string>();
    for (const file of files.filter(file => file !== 'index.ts')) {
      for (const to of importsOf(file).filter(name => !name.startsWith('npm:')))
        edges.add(`${roomOf(file)} → ${roomOf(to)}`);
    }
    const isDrawn = (edge: string) => {
      const [from = '', to = ''] = edge.split(' → ');
      return from !== to && !COMMON.includes(from) && !COMMON.includes(to);
    };
    const [, graph = ''] =
      /```mermaid\ngraph TD\n([^`]*)```/.exec(readFileSync(new URL('ARCHITECTURE.md', root), 'utf8')) ?? [];
    const drawn = graph
      .trim()
      .split('\n')
      .flatMap(line => {
        const [froms = [], tos = []] = line.split('-->').map(side => side.trim().split(' & '));
        return froms.flatMap(from => tos.map(to => `${from} → ${to}`));
      });
    expect(drawn.sort()).toEqual([...edges].filter(isDrawn).sort());
  });

  it.each(['payments', 'schemas', 'store'])('run one way between the folders of %s', room => {
    const edges = files.filter(isIn(`${room}/`)).flatMap(file =>
      importsOf(file)
        .filter(isIn(`${room}/`))
        .map(to => `${posix.dirname(file)} → ${posix.dirname(to)}`),
    );
    const back = edges.filter(edge => edges.includes(edge.split(' → ').reverse().join(' → ')));
    expect(back.filter(edge => new Set(edge.split(' → ')).size > 1)).toEqual([]);
  });

  it('run one way: no file reaches itself, not even by a type', () => {
    const circles: string[] = [];
    const seen = new Set<string>();
    const visit = (file: string, path: string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (seen.has(file)) return;
      seen.add(file);
      for (const next of importsOf(file)) if (files.includes(next)) visit(next, [...path, file]);
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });
});

// Biome checks the lengths of files and functions.
it('the house has eight files at its top at most, and twelve in a folder', () => {
  const sizes = new Map<string, number>();
  for (const folder of files.map(file => posix.dirname(file))) sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
  const crowded = [...sizes].filter(([folder, size]) => size > (folder === '.' ? 8 : 12));
  expect(crowded).toEqual([]);
});

it('the repository locks its dependencies without the address of a registry', () => {
  const lock = readFileSync(new URL('package-lock.json', root), 'utf8');
  // Mend: npm install --omit-lockfile-registry-resolved
  expect(lock).not.toMatch(/"resolved"|registry\./);
});
