// What whoever debugs the installed package sees: its source, with the lines as they are there.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, run } from './consumer.ts';
import { app, installed, packed } from './tarball.ts';

/** A mistake in what a merchant writes, and two lines of ours in the trace of the error that tells him so. */
const MISTAKES = [
  {
    from: '',
    mistake: 'new sdk.GatewayClient({ baseUrl: 7 })',
    lines: { 'client.ts': 'readClientOptions(options)', 'option-reader.ts': 'new ConfigurationError(' },
  },
  {
    from: '/postgres',
    mistake: "sdk.postgresStore({}, { scope: 'eu', tablePrefix: 'a b' })",
    lines: {
      'postgres/store.ts': "sqlStoreOptions('postgresStore'",
      'store/options.ts': 'new ConfigurationError(',
    },
  },
];
const LOADED = {
  ESM: (from: string) => ['--input-type=module', `const sdk = await import('payment-gateway-sdk${from}');`],
  CommonJS: (from: string) => ['--input-type=commonjs', `const sdk = require('payment-gateway-sdk${from}');`],
};

describe.each(Object.entries(LOADED))('a stack trace in %s with --enable-source-maps', (_, load) => {
  it.each(MISTAKES)('names files and lines of src, from payment-gateway-sdk$from', ({ from, mistake, lines }) => {
    const [type = '', loading] = load(from);
    const code = `${loading} try { ${mistake} } catch (error) { console.log(error.stack) }`;
    const trace = run(process.execPath, ['--enable-source-maps', type, '--eval', code], app);
    for (const [file, expected] of Object.entries(lines)) {
      const source = readFileSync(installed(`src/${file}`), 'utf8');
      expect(source).toBe(readFileSync(join(root, 'src', file), 'utf8'));
      const named = [...trace.matchAll(/payment-gateway-sdk[\\/]src[\\/]([\w\\/-]+\.ts):(\d+):\d+/g)]
        .filter(([, path]) => path?.replaceAll('\\', '/') === file)
        .map(([, , line]) => source.split('\n')[Number(line) - 1]);
      expect(named.join('\n')).toContain(expected);
    }
    expect(trace).not.toMatch(/payment-gateway-sdk[\\/]dist/);
  });
});

describe('the source maps', () => {
  const maps = packed.filter(path => path.endsWith('.map'));

  it('belong to all code of ours', () => {
    const code = packed.filter(path => /^dist\/.*\.c?js$/.test(path));
    expect(code.length).toBeGreaterThan(10);
    expect(code.filter(path => !maps.includes(`${path}.map`))).toEqual([]);
  });

  it('lead to files of the package, and tell nothing of the machine that built it', () => {
    const sources = maps.flatMap(map =>
      (JSON.parse(readFileSync(installed(map), 'utf8')).sources as string[]).map(source => join(dirname(map), source)),
    );
    const missing = sources.filter(source => !existsSync(installed(source)));
    // The package contains no bundled packages, style sheets, browser scripts or scenarios as files.
    expect(missing.filter(source => !/^node_modules[\\/]|\.(css|js|yaml)$/.test(source))).toEqual([]);
    expect(sources.length - missing.length).toBeGreaterThan(200);
    const folder = root.replaceAll('\\', '/');
    expect(packed.filter(path => readFileSync(installed(path), 'utf8').includes(folder))).toEqual([]);
  });
});

it('the package and ky take less than 10 MiB of an installation, in blocks of 4 KiB', () => {
  // Not counted is zod, whose types are needed: it takes 8.2 MiB alone, and a project may have it anyway.
  const sizeOf = (name: string) =>
    readdirSync(join(app, 'node_modules', name), { recursive: true, encoding: 'utf8' })
      .map(path => statSync(join(app, 'node_modules', name, path)))
      .reduce((sum, { size }) => sum + Math.ceil(size / 4096) * 4096, 0);
  expect(sizeOf('payment-gateway-sdk') + sizeOf('ky')).toBeLessThan(10 * 1024 * 1024);
  expect(sizeOf('payment-gateway-sdk')).toBeGreaterThan(1024 * 1024);
});
