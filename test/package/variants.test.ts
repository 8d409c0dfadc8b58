// The tarball with other compilers, settings, test runners and runtimes, which the registry has.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bin, checkoutTest, emptyProject, root, run as runIn, typedProject } from './consumer.ts';
import { tarball } from './tarball.ts';

let app = '';
const run = (command: string, args: string[], env: Record<string, string> = {}) => runIn(command, args, app, env);

beforeAll(() => {
  app = emptyProject(tarball);
});
afterAll(() => rmSync(app, { recursive: true, force: true }));

describe('the compiler', () => {
  it('takes and refuses in .cts what it should', () => {
    typedProject(app, 'requests.cts');
    expect(run(bin('tsc'), ['-p', '.'])).toBe('');
  });

  it('the compiler can write the declarations of whoever exports what the SDK gives, and they refuse what it refuses', () => {
    typedProject(app, ['shop.mts'], {
      skipLibCheck: true,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: 'declared',
    });
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
    typedProject(app, ['uses.mts'], { skipLibCheck: true, noEmit: true });
    expect(run(bin('tsc'), ['-p', '.'])).toBe('');
  });

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

  it.each(Object.entries(VERSIONS).flatMap(([version, settings]) => settings.map(name => [version, name] as const)))(
    'TypeScript %s takes the types of every entry point, with %s',
    (version, name) => {
      const options: object = SETTINGS[name as keyof typeof SETTINGS];
      copyFileSync(join(app, 'entries.mts'), join(app, 'entries.cts'));
      // The declarations are checked as well: skipLibCheck is off.
      typedProject(app, ['entries.mts', 'entries.cts', 'requests.mts'], { noEmit: true, ...options });
      expect(run('npx', ['-y', '-p', `typescript@${version}`, 'tsc', '-p', '.'])).toBe('');
    },
  );
});

describe("a merchant's checkout test with Jest", () => {
  // Not a dev dependency: it would double what a newcomer installs.
  const jest = (folder: string, env = {}) =>
    JSON.parse(run('npx', ['--yes', 'jest@30.5.2', '--json', '--rootDir', folder], env));

  it('runs in CommonJS', () => {
    expect(jest(checkoutTest(app, 'jest'))).toMatchObject({ success: true, numPassedTests: 2 });
  });

  it('runs in ESM, with its requires as imports', () => {
    const folder = join(app, 'jest-esm');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const code = readFileSync(join(root, 'examples/testing/checkout.jest.test.cjs'), 'utf8');
    const imports = code.replace(/^const (\{.*\}) = require\((.*)\);/gm, 'import $1 from $2;');
    expect(imports.match(/^import /gm)).toHaveLength(2);
    writeFileSync(join(folder, 'checkout.test.js'), imports);
    const env = { NODE_OPTIONS: '--experimental-vm-modules' };
    expect(jest(folder, env)).toMatchObject({ success: true, numPassedTests: 2 });
  });
});

describe('on another runtime', () => {
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
