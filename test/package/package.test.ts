// The tarball that would be published, tried as its consumers would.
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { billOfMaterials } from '../../.github/release/sbom.ts';
import { bin, checkoutTest, root, run as runIn, typedProject } from './consumer.ts';
import { app, folderInApp, installed, packed, tarball } from './tarball.ts';
import { tool } from './tools.ts';

const folder = folderInApp();

const run = (command: string, args: string[], cwd = folder, env: Record<string, string> = {}) =>
  runIn(command, args, cwd, env);
const read = (file: string) => readFileSync(installed(file), 'utf8');

describe('the tarball', () => {
  it('holds the build and its papers, and nothing else', () => {
    const isIn = (folder: string) => (path: string) => path.startsWith(`${folder}/`);
    const build = packed.filter(isIn('dist'));
    const papers = packed.filter(path => !['dist', 'src', 'docs', 'examples'].some(folder => isIn(folder)(path)));
    expect(packed.filter(isIn('src')).filter(path => !path.endsWith('.ts'))).toEqual([]);
    const furtherDocs = packed.filter(isIn('docs')).filter(path => !path.endsWith('.md'));
    expect(furtherDocs.sort()).toEqual([
      'docs/llms.txt',
      'docs/observability/grafana-dashboard.json',
      'docs/openapi/gateway.json',
      'docs/openapi/sandbox.json',
    ]);
    expect(papers.sort()).toEqual(['AGENTS.md', 'CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json']);
    const code = /\.(js|cjs|d\.ts|d\.cts|(js|cjs)\.map)$/;
    expect(build.filter(path => !code.test(path))).toEqual(['dist/THIRD-PARTY-LICENCES.txt']);
  });

  it('takes less than 2 MiB to download', () => {
    expect(statSync(tarball).size).toBeLessThan(2 * 1024 * 1024);
    expect(statSync(tarball).size).toBeGreaterThan(512 * 1024);
  });

  it('brings two dependencies along, zod and ky', () => {
    const installed = readdirSync(join(app, 'node_modules')).filter(name => !name.startsWith('.'));
    expect(installed.sort()).toEqual(['ky', 'payment-gateway-sdk', 'zod']);
  });

  it('imports Node and its own files at run time, and nothing else', () => {
    const code = packed.filter(path => /^dist\/.*\.c?js$/.test(path));
    const wanted = code.flatMap(file => {
      const statements = read(file).replace(/^\s*(\*|\/\/|\/\*\*).*$/gm, '');
      return [...statements.matchAll(/(?:require\(|(?:from|import) ?)["']([^."'\s][^"'\s]*)["']/g)].map(
        ([, name]) => name,
      );
    });
    expect(wanted.length).toBeGreaterThan(10);
    expect(wanted.filter(name => !name?.startsWith('node:'))).toEqual([]);
  });

  it('carries the licence of every package that it contains', () => {
    const licences = read('dist/THIRD-PARTY-LICENCES.txt');
    expect(licences).toMatch(
      /^commander\n[\s\S]*TJ Holowaychuk[\s\S]*^hono\n[\s\S]*Yusuke Wada[\s\S]*^ky\n[\s\S]*Copyright \(c\) Sindre Sorhus[\s\S]*^uqr\n[\s\S]*Anthony Fu[\s\S]*^yaml\n[\s\S]*Eemeli Aro[\s\S]*^zod\n[\s\S]*Colin McDonnell/m,
    );
    expect(licences.match(/Permission is hereby granted/g)).toHaveLength(5);
    const sources = packed
      .filter(path => path.endsWith('.map'))
      .flatMap(map => JSON.parse(read(map)).sources as string[]);
    const contained = new Set(sources.flatMap(source => /node_modules\/([^/]+)/.exec(source)?.[1] ?? []));
    expect(contained).toEqual(new Set(licences.match(/^\w+$/gm)));
  });

  it('passes publint', () => {
    expect(run(tool('.bin/publint'), ['--strict', tarball])).toContain('All good!');
  });

  it('has right types for every way of importing it', () => {
    const report = run(tool('.bin/attw'), [tarball, '--profile', 'node16', '--format', 'json']);
    const { entrypoints, problems } = JSON.parse(report).analysis;
    expect(Object.keys(entrypoints).sort()).toEqual(Object.keys(JSON.parse(read('package.json')).exports).sort());
    // The report also lists the resolution that the profile ignores.
    const kinds: string[] = problems.map(({ resolutionKind }: { resolutionKind: string }) => resolutionKind);
    expect(kinds.filter(kind => kind !== 'node10')).toEqual([]);
  });
});

describe('in an empty project', () => {
  it.each(['main.mjs', 'main.cjs', 'both.mjs', 'lazy.mjs', 'zod.mjs'])('%s runs', file => {
    expect(run(process.execPath, [file])).toBe('consumer: done\n');
  });

  it("the README's fifteen lines run as they are pasted", () => {
    const [, lines = ''] = /^```js\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
    writeFileSync(join(folder, 'first.mjs'), lines);
    expect(run(process.execPath, ['first.mjs'])).toBe('redirect\norder-1042 is paid: 25.5 EUR\npaid\n');
  });

  it('the CommonJS build loads where require() knows no ESM, as in Jest', () => {
    expect(run(process.execPath, ['--no-experimental-require-module', 'main.cjs'])).toBe('consumer: done\n');
    expect(packed.filter(path => path.endsWith('.cjs') && /\bimport\(/.test(read(path)))).toEqual([]);
  });

  it('the compiler takes and refuses what it should', () => {
    // variants.test.ts checks the declarations of libraries too.
    typedProject(folder, 'requests.mts', { noEmit: true, skipLibCheck: true });
    expect(run(bin('tsc'), ['-p', '.'])).toBe('');
  });
});

describe("a merchant's checkout test, as docs/testing.md names it", () => {
  it('runs with Vitest', () => {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'), 'junction');
    expect(run(bin('vitest'), ['run', '--root', checkoutTest(folder, 'vitest')])).toMatch(/Tests .*3 passed/);
  });

  it('runs with node:test', () => {
    const reported = run(process.execPath, ['--test', '--test-reporter=tap'], checkoutTest(folder, 'node'));
    expect(reported).toMatch(/^# pass 1$[\s\S]*^# fail 0$/m);
  });
});

describe('a release', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

  it('the bill of materials names the packages that the build contains, in the versions of the lock file', () => {
    const { metadata, components, dependencies } = billOfMaterials();
    const licences = readFileSync(join(root, 'dist/THIRD-PARTY-LICENCES.txt'), 'utf8');
    const carried = licences.split(`\n${'-'.repeat(80)}\n\n`).map(text => text.split('\n', 1)[0]);
    expect(components.map(({ name }) => name).sort()).toEqual(carried.sort());
    expect(components.length).toBeGreaterThan(3);
    for (const { name, version, scope } of components) {
      expect([name, version, scope]).toEqual([name, lock[`node_modules/${name}`].version, 'required']);
    }
    expect(metadata.component.name).toBe('payment-gateway-sdk');
    expect(dependencies[0]?.dependsOn).toEqual(components.map(component => component['bom-ref']));
  });

  it('nothing of it runs a script when it is installed', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(Object.keys(scripts).filter(name => /install|prepare|prepublish/.test(name))).toEqual([]);
    for (const name of ['ky', 'zod']) expect(lock[`node_modules/${name}`]).not.toHaveProperty('hasInstallScript');
  });
});

it('the command line is installed with the package, that of operators too', () => {
  const sandbox = join(app, 'node_modules/.bin/payment-gateway-sandbox');
  expect(run(sandbox, ['--version'])).toBe(`${JSON.parse(read('package.json')).version}\n`);
  expect(run(sandbox, ['--help'])).toContain('trigger [options] <scenario>');
  const operator = join(app, 'node_modules/.bin/payment-gateway-sdk');
  expect(run(operator, ['--version'])).toBe(run(sandbox, ['--version']));
  expect(run(operator, ['--help'])).toContain('settle [options] <reference> <id|not_created>');
});
