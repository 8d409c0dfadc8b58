// The tarball with other compilers, settings and test runners.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bin, checkoutTest, root, run as runIn, typedProject } from './consumer.ts';
import { folderInApp } from './tarball.ts';
import { tool } from './tools.ts';

const app = folderInApp();
const run = (command: string, args: string[], env: Record<string, string> = {}) => runIn(command, args, app, env);

describe('the compiler', () => {
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

  it.each([
    // The oldest, the repository's own and the newest: together each setting.
    ['5.7', 'node16, optional properties not exact', { module: 'node16', exactOptionalPropertyTypes: false }],
    ['5.7', 'bundler', { module: 'preserve', moduleResolution: 'bundler' }],
    ['6', 'nodenext', {}],
    ['7', 'nodenext, without DOM', { lib: ['es2024'] }],
  ])(
    'TypeScript %s takes the types of every entry point and refuses wrong requests, with %s',
    (version, _, options) => {
      copyFileSync(join(app, 'entries.mts'), join(app, 'entries.cts'));
      // The declarations are checked as well: skipLibCheck is off.
      typedProject(app, ['entries.mts', 'entries.cts', 'requests.mts', 'requests.cts'], { noEmit: true, ...options });
      expect(run(version === '6' ? bin('tsc') : tool(`typescript-${version}/bin/tsc`), ['-p', '.'])).toBe('');
    },
  );
});

describe("a merchant's checkout test with Jest", () => {
  const jest = (folder: string, env = {}) => JSON.parse(run(tool('.bin/jest'), ['--json', '--rootDir', folder], env));

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
