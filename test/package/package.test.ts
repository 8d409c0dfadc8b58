// The tarball that would be published, tried as its consumers would.
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isCi, lacks } from '../support/skips.ts';
import { bin, emptyProject, root, run as runIn } from './consumer.ts';
import { packed, tarball } from './tarball.ts';

let app = '';

const run = (command: string, args: string[], cwd = app, env: Record<string, string> = {}) =>
  runIn(command, args, cwd, env);
const read = (file: string) => readFileSync(join(app, 'node_modules/payment-gateway-sdk', file), 'utf8');

beforeAll(() => {
  app = emptyProject(tarball);
});
afterAll(() => rmSync(app, { recursive: true, force: true }));

/** What takes seconds each. */
const further = it.skipIf(lacks(isCi, 'more of the compiler in an empty project, which CI plays'));

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

  it('holds every file that package.json points to', () => {
    const { exports, bin } = JSON.parse(read('package.json'));
    const targets = JSON.stringify([exports, bin]).match(/(?:dist|docs)\/[^"]+/g) ?? [];
    expect(targets.length).toBeGreaterThan(8);
    expect(targets.filter(target => !packed.includes(target))).toEqual([]);
  });

  it('brings two dependencies along, zod and ky', () => {
    const installed = readdirSync(join(app, 'node_modules')).filter(name => !name.startsWith('.'));
    expect(installed.sort()).toEqual(['ky', 'payment-gateway-sdk', 'zod']);
  });

  it('imports Node and its own files at run time, and nothing else', () => {
    const code = packed.filter(path => /^dist\/.*\.c?js$/.test(path));
    const wanted = code.flatMap(file => {
      const statements = read(file).replace(/^\s*(\*|\/\/|\/\*\*).*$/gm, '');
      return [...statements.matchAll(/(?:require\(|(?:from|import) ?)["']([^."'][^"']*)["']/g)].map(([, name]) => name);
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
    expect(run(bin('publint'), ['--strict', tarball])).toContain('All good!');
  });

  it('has right types for every way of importing it', () => {
    const report = run(bin('attw'), [tarball, '--profile', 'node16', '--format', 'json']);
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
    writeFileSync(join(app, 'first.mjs'), lines);
    expect(run(process.execPath, ['first.mjs'])).toBe('redirect\norder-1042 is paid: 25.5 EUR\npaid\n');
  });

  it('the CommonJS build loads where require() knows no ESM, as in Jest', () => {
    expect(run(process.execPath, ['--no-experimental-require-module', 'main.cjs'])).toBe('consumer: done\n');
    expect(packed.filter(path => path.endsWith('.cjs') && /\bimport\(/.test(read(path)))).toEqual([]);
  });

  const project = (files: string[], options: object): void => {
    const common = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2024', 'dom'],
      strict: true,
      exactOptionalPropertyTypes: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    };
    const compilerOptions = { ...common, ...options };
    writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  };
  /** Writes the requests that compile, and those that must not, as a project of its own. */
  const typedProject = (extension: 'mts' | 'cts'): void => {
    copyFileSync(join(root, 'test/types/requests.ts'), join(app, `requests.${extension}`));
    project([`requests.${extension}`], { noEmit: true });
  };

  it.each(isCi ? (['mts', 'cts'] as const) : (['mts'] as const))(
    'the compiler takes and refuses in .%s what it should',
    extension => {
      typedProject(extension);
      expect(run(bin('tsc'), ['-p', '.'])).toBe('');
    },
  );

  further(
    'the compiler can write the declarations of whoever exports what the SDK gives, and they refuse what it refuses',
    () => {
      project(['shop.mts'], { skipLibCheck: true, declaration: true, emitDeclarationOnly: true, outDir: 'declared' });
      expect(run(bin('tsc'), ['-p', '.'])).toBe('');
      const request = `{ paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', amount: '1', currency: 'EUR', webhookUrl: 'https://shop.example' } as const`;
      const uses = `
      import { createWithdrawal, onrampMethods, payOut } from './declared/shop.mjs';
      const request = ${request};
      createWithdrawal(request);
      onrampMethods.deposit({ ...request, paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP_PIX' });
      payOut({ query: async () => ({ rows: [], command: '' }) } as never, { ...request, reference: 'payout-1' });
      // @ts-expect-error
      createWithdrawal({ ...request, paymentMethod: 'BLIK' });
      // @ts-expect-error
      payOut(request);`;
      writeFileSync(join(app, 'uses.mts'), uses);
      project(['uses.mts'], { skipLibCheck: true, noEmit: true });
      expect(run(bin('tsc'), ['-p', '.'])).toBe('');
    },
  );

  const NO_DOM = { lib: ['es2024'] };
  const BUNDLER = { module: 'preserve', moduleResolution: 'bundler' };
  const LOOSE = { exactOptionalPropertyTypes: false };
  const SETTINGS = {
    nodenext: {},
    'nodenext, without DOM': NO_DOM,
    'node16, optional properties not exact': { module: 'node16', ...LOOSE },
    bundler: BUNDLER,
    'bundler, without DOM, optional properties not exact': { ...BUNDLER, ...NO_DOM, ...LOOSE },
  };
  const VERSIONS = {
    '5.7.3': Object.keys(SETTINGS),
    '5.9': ['nodenext, without DOM', 'bundler'],
    '6': ['nodenext', 'bundler, without DOM, optional properties not exact'],
    '7': Object.keys(SETTINGS),
  };

  it
    .skipIf(lacks(isCi, 'TypeScript from 5.7 to 7, which CI fetches'))
    .each(Object.entries(VERSIONS).flatMap(([version, settings]) => settings.map(name => [version, name] as const)))(
    'TypeScript %s takes the types of every entry point, with %s',
    (version, name) => {
      const options: object = SETTINGS[name as keyof typeof SETTINGS];
      copyFileSync(join(root, 'test/types/requests.ts'), join(app, 'requests.mts'));
      copyFileSync(join(app, 'entries.mts'), join(app, 'entries.cts'));
      // The declarations are checked as well: skipLibCheck is off.
      project(['entries.mts', 'entries.cts', 'requests.mts'], { noEmit: true, ...options });
      expect(run('npx', ['-y', '-p', `typescript@${version}`, 'tsc', '-p', '.'])).toBe('');
    },
  );
});

describe("a merchant's checkout test, as docs/testing.md names it", () => {
  const testing = join(root, 'examples/testing');
  const page = readFileSync(join(root, 'docs/testing.md'), 'utf8');
  /** A folder of the app with one test in it, and nothing that another runner would pick up. */
  const folderOf = (name: string) => {
    const folder = join(app, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const file = readdirSync(testing).find(file => file.includes(`.${name}.`)) ?? '';
    expect(page).toContain(file);
    copyFileSync(join(testing, file), join(folder, file));
    return folder;
  };

  it('runs with Vitest', () => {
    const vitest = join(app, 'node_modules/vitest');
    symlinkSync(join(root, 'node_modules/vitest'), vitest, 'junction');
    onTestFinished(() => rmSync(vitest));
    expect(run(bin('vitest'), ['run', '--root', folderOf('vitest')])).toMatch(/Tests .*3 passed/);
  });

  it('runs with node:test', () => {
    const reported = run(process.execPath, ['--test', '--test-reporter=tap'], folderOf('node'));
    expect(reported).toMatch(/^# pass 1$[\s\S]*^# fail 0$/m);
  });

  describe.skipIf(lacks(isCi, 'the checkout test with Jest, which CI fetches'))('with Jest', () => {
    // Not a dev dependency: it would double what a newcomer installs.
    const jest = (folder: string, env = {}) =>
      JSON.parse(run('npx', ['--yes', 'jest@30.5.2', '--json', '--rootDir', folder], app, env));

    it('runs in CommonJS', () => {
      expect(jest(folderOf('jest'))).toMatchObject({ success: true, numPassedTests: 2 });
    });

    it('runs in ESM, with its requires as imports', () => {
      const folder = join(app, 'jest-esm');
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      const code = readFileSync(join(testing, 'checkout.jest.test.cjs'), 'utf8');
      const imports = code.replace(/^const (\{.*\}) = require\((.*)\);/gm, 'import $1 from $2;');
      expect(imports.match(/^import /gm)).toHaveLength(2);
      writeFileSync(join(folder, 'checkout.test.js'), imports);
      const env = { NODE_OPTIONS: '--experimental-vm-modules' };
      expect(jest(folder, env)).toMatchObject({ success: true, numPassedTests: 2 });
    });
  });
});

describe('the command line', () => {
  it('is installed with the package, that of operators too', () => {
    const sandbox = join(app, 'node_modules/.bin/payment-gateway-sandbox');
    expect(run(sandbox, ['--version'])).toBe(`${JSON.parse(read('package.json')).version}\n`);
    expect(run(sandbox, ['--help'])).toContain('trigger [options] <scenario>');
    const operator = join(app, 'node_modules/.bin/payment-gateway-sdk');
    expect(run(operator, ['--version'])).toBe(run(sandbox, ['--version']));
    expect(run(operator, ['--help'])).toContain('settle [options] <reference> <id|not_created>');
  });
});

describe.skipIf(lacks(isCi, 'the tarball on other runtimes, which CI fetches'))('on another runtime', () => {
  const RUNTIMES: [name: string, ...command: string[]][] = [
    ['node@22.12.0', 'node'],
    ['node@22', 'node'],
    ['node@26', 'node'],
    ['bun@latest', 'bun'],
    ['deno@latest', 'deno', 'run', '--allow-all'],
  ];
  const FILES = ['main.mjs', 'main.cjs', 'both.mjs'];

  it.each(RUNTIMES.flatMap(([name, ...command]) => FILES.map(file => ({ name, file, command: [...command, file] }))))(
    '$name, $file runs',
    ({ name, command }) => {
      expect(run('npx', ['-y', '-p', name, ...command])).toContain('consumer: done\n');
    },
  );
});
