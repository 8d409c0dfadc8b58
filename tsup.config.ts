import { readFileSync } from 'node:fs';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { build, transform } from 'esbuild';
import { defineConfig, type Options } from 'tsup';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const entry = {
  index: 'src/index.ts',
  'sandbox/index': 'src/sandbox/index.ts',
  'postgres/index': 'src/postgres/index.ts',
  'mysql/index': 'src/mysql/index.ts',
  'redis/index': 'src/redis/index.ts',
  'otel/index': 'src/otel/index.ts',
  'testing/index': 'src/testing/index.ts',
};

/** Files that are imported as `./file?raw` become text in the build: style sheets and browser scripts. */
const rawFiles: Plugin = {
  name: 'raw-files',
  setup(build) {
    build.onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      // The build names it in comments and maps: without the folder of whoever builds.
      path: relative('.', resolve(resolveDir, path)).replaceAll('\\', '/'),
      namespace: 'raw',
    }));
    build.onLoad({ filter: /\?raw$/, namespace: 'raw' }, async ({ path }) => ({
      contents: await readFile(path.replace('?raw', ''), 'utf8'),
      loader: 'text',
    }));
  },
};

/** Cloudflare Workers have no node:http before 2025-08, and no connections of this kind after: there it is left out. */
const withoutConnections: Plugin = {
  name: 'without-connections',
  setup(build) {
    build.onLoad({ filter: /http[\\/]connection\.ts$/ }, () => ({ contents: '' }));
  },
};

/** What the build carries inside. Loading all of zod would take most of the time that importing takes. */
const INSIDE = ['commander', 'hono/html', 'hono/tiny', 'uqr', 'yaml', 'zod'];
/** ky is ESM only, and Jest cannot require ESM: the CommonJS build carries ky inside. */
const INSIDE_COMMONJS = [...INSIDE, 'ky'];

const fileOf = (name: string) => name.replace('/', '-');

/** Imports them from `#vendor/…`, which package.json leads to `dist/vendor`: one copy, which has no source map. */
const vendor = (names: readonly string[]): Plugin => ({
  name: 'vendor',
  setup(build) {
    const filter = new RegExp(`^(${names.join('|')})$`);
    build.onResolve({ filter }, ({ path }) => ({ path: `#vendor/${fileOf(path)}`, external: true }));
  },
});

/** The exports of a package that src uses: the others stay out. */
async function usedOf(name: string): Promise<string[]> {
  const used = new Set<string>();
  const isImported = new RegExp(
    `(?:import (?:(\\w+),? )?(?:{([^}]+)} |\\* as (\\w+) )?from|const {([^}]+)} = await import\\() ?"${name}"`,
    'g',
  );
  for await (const file of glob('src/**/*.ts')) {
    // Without types: much of what is imported is nothing else.
    const { code } = await transform(readFileSync(file, 'utf8'), { loader: 'ts', target: 'node22' });
    for (const [, whole, some, all, late] of code.matchAll(isImported)) {
      if (whole) used.add('default');
      for (const one of (some ?? late ?? '').split(',')) if (one.trim()) used.add(one.trim());
      if (all) for (const [, one = ''] of code.matchAll(new RegExp(`\\b${all}\\.(\\w+)`, 'g'))) used.add(one);
    }
  }
  return [...used].sort();
}

const AS_DEFAULT = 'module.exports = Object.assign(module.exports.default, module.exports);';

/** Writes `dist/vendor`, minified, and the licences, which ask to be carried too. */
async function writeVendor(): Promise<void> {
  for (const name of INSIDE_COMMONJS) {
    const used = await usedOf(name);
    for (const format of ['esm', 'cjs'] as const) {
      if (format === 'esm' && !INSIDE.includes(name)) continue;
      await build({
        stdin: { contents: `export { ${used.join(', ')} } from '${name}';`, resolveDir: '.' },
        outfile: `dist/vendor/${fileOf(name)}.${format === 'esm' ? 'js' : 'cjs'}`,
        format,
        bundle: true,
        minify: true,
        platform: 'node',
        target: 'node22',
        // The build of yaml for browsers asks Node for nothing, and is made of modules: what nobody uses stays out.
        alias: { yaml: resolve('node_modules/yaml/browser/index.js') },
        // As Node has it: the default export of CommonJS is the module.
        footer: { js: format === 'cjs' && used.includes('default') ? AS_DEFAULT : '' },
      });
    }
  }
  const licences = [
    'ky/license',
    'commander/LICENSE',
    'hono/LICENSE',
    'uqr/LICENSE',
    'yaml/LICENSE',
    'zod/LICENSE',
  ].map(async path => {
    const text = await readFile(`node_modules/${path}`, 'utf8');
    return `${path.split('/')[0]}\n\n${text.trim()}\n`;
  });
  await writeFile('dist/THIRD-PARTY-LICENCES.txt', (await Promise.all(licences)).join(`\n${'-'.repeat(80)}\n\n`));
}

/**
 * Writes each module of the ESM build that an entry point reaches once more, as CommonJS. So both builds are the same code,
 * cut in the same way: an app that requires several entry points loads what they share once.
 */
async function writeCommonJs(): Promise<void> {
  const written = new Set<string>();
  let waiting = Object.keys(entry).map(name => `dist/${name}.js`);
  while (waiting.length > 0) {
    for (const file of waiting) written.add(file);
    const found = new Set<string>();
    const toCommonJs: Plugin = {
      name: 'to-commonjs',
      setup(build) {
        build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
          if (kind === 'entry-point') return undefined;
          found.add(relative('.', resolve(resolveDir, path)).replaceAll('\\', '/'));
          return { path: path.replace(/\.js$/, '.cjs'), external: true };
        });
      },
    };
    await build({
      entryPoints: waiting,
      outdir: 'dist',
      outbase: 'dist',
      outExtension: { '.js': '.cjs' },
      format: 'cjs',
      platform: 'node',
      target: 'node22',
      bundle: true,
      external: ['#vendor/*'],
      plugins: [vendor(['ky']), toCommonJs],
      // Jest runs CommonJS without import().
      supported: { 'dynamic-import': false },
      sourcemap: true,
      sourcesContent: false,
    });
    waiting = [...found].filter(file => !written.has(file));
  }
}

const common: Options = {
  entry,
  target: 'node22',
  platform: 'node',
  removeNodeProtocol: false,
  noExternal: INSIDE,
  esbuildPlugins: [rawFiles, vendor(INSIDE)],
  // The maps lead to src, which is in the package too: once, and not once more in each map.
  sourcemap: true,
  esbuildOptions: options => {
    options.sourcesContent = false;
  },
};

export default defineConfig([
  // The command lines are programs and no imports: they are ESM only, and have no declarations.
  {
    ...common,
    entry: { ...entry, 'sandbox/cli': 'src/sandbox/cli/main.ts', 'cli/main': 'src/cli/main.ts' },
    format: 'esm',
    dts: { entry },
    onSuccess: async () => {
      await Promise.all([writeVendor(), writeCommonJs()]);
    },
  },
  { ...common, format: 'cjs', dts: { entry, only: true } },
  {
    ...common,
    entry: { 'workerd/index': entry.index },
    format: 'esm',
    esbuildPlugins: [rawFiles, vendor(INSIDE), withoutConnections],
  },
]);
