// The rooms of the house, and which way the doors open.
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const files = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => name.replaceAll('\\', '/'));

/** `from 'x'` of each import and re-export; types too, unless they alone are wanted out. */
function importsOf(file: string, { types = true } = {}): string[] {
  const text = readFileSync(new URL(`src/${file}`, root), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s(type\s)?(?:[^'";]*?\sfrom\s)?'([^']+)'/gm)]
    .filter(([, type]) => types || !type)
    .map(([, , name = '']) => (name.startsWith('.') ? posix.join(posix.dirname(file), name) : `npm:${name}`));
}

const isIn = (folder: string) => (file: string) => file.startsWith(folder);
const isNotIn = (folder: string) => (file: string) => !file.startsWith(folder);
const CLIENT = /^(answers|attempts|client|creation|next-action|options|transport|wait)\.ts$/;

describe('imports', () => {
  it.each([
    ['only transport.ts knows ky', (file: string) => file !== 'transport.ts', /^npm:ky$/],
    ['errors.ts imports nothing but types', (file: string) => file === 'errors.ts', /./],
    ['schemas import zod and each other', isIn('schemas/'), /^(?!npm:zod$|schemas\/)/],
    ['the sandbox does not know the client', isIn('sandbox/'), CLIENT],
    ['callbacks know the client only by interface', isIn('webhooks/'), CLIENT],
    [
      'what happens once knows neither the client nor its callbacks',
      isIn('once/'),
      /^(webhooks\/|(answers|attempts|call-options|client|creation|options|transport|wait)\.ts$)/,
    ],
    ['the stores know no driver: pools and clients come by shape', isIn('once/'), /^npm:(?!node:)/],
    ['nothing but the sandbox knows the sandbox', isNotIn('sandbox/'), /^sandbox\//],
    ['nothing but the sandbox needs more than zod and ky', isNotIn('sandbox/'), /^npm:(?!node:|zod$|ky$)/],
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

  it('run one way: no file reaches itself', () => {
    const circles: string[] = [];
    const visit = (file: string, path: string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      else
        for (const next of importsOf(file, { types: false }))
          if (files.includes(next)) visit(next, [...path, file]);
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });
});

describe('the repository', () => {
  it('opens each source file with one sentence that says what it is', () => {
    const silent = files.filter(
      file => !/^(?:#!.*\n)?\/\/ [A-Z].*[.:]/.test(readFileSync(new URL(`src/${file}`, root), 'utf8')),
    );
    expect(silent).toEqual([]);
  });

  it('locks its dependencies without the address of a registry', () => {
    const lock = readFileSync(new URL('package-lock.json', root), 'utf8');
    // Mend: npm install --omit-lockfile-registry-resolved
    expect(lock).not.toMatch(/"resolved"|registry\./);
  });

  it('needs zod and ky at run time, and nothing else', () => {
    const { dependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
    expect(Object.keys(dependencies)).toEqual(['ky', 'zod']);
  });
});
