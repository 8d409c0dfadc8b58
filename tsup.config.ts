import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineConfig, type Options } from 'tsup';

const entry = {
  index: 'src/index.ts',
  'sandbox/index': 'src/sandbox/index.ts',
  'postgres/index': 'src/postgres/index.ts',
  'redis/index': 'src/redis/index.ts',
  'otel/index': 'src/otel/index.ts',
  'testing/index': 'src/testing/index.ts',
};

/** Files that are imported as `./file?raw` become text in the build: style sheets and browser scripts. */
const rawFiles: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'raw-files',
  setup(build) {
    build.onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path),
      namespace: 'raw',
    }));
    build.onLoad({ filter: /\?raw$/, namespace: 'raw' }, async ({ path }) => ({
      contents: await readFile(path.replace('?raw', ''), 'utf8'),
      loader: 'text',
    }));
  },
};

/** Cloudflare Workers have no node:http before 2025-08, and no connections of this kind after: there it is left out. */
const withoutConnections: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'without-connections',
  setup(build) {
    build.onLoad({ filter: /http[\\/]connection\.ts$/ }, () => ({ contents: '' }));
  },
};

/** The build of yaml for browsers asks Node for nothing, and is made of modules: what nobody uses of it stays out. */
const plainYaml: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'plain-yaml',
  setup(build) {
    build.onResolve({ filter: /^yaml$/ }, () => ({ path: resolve('node_modules/yaml/browser/index.js') }));
  },
};

const common: Options = {
  entry,
  target: 'node22',
  platform: 'node',
  removeNodeProtocol: false,
  dts: { entry },
  // Loading all of zod would take most of the time that importing takes. Its types are imported all the same.
  noExternal: ['zod', 'uqr', 'yaml'],
  esbuildPlugins: [rawFiles, plainYaml],
};

/** What the build carries inside: zod, ky in CommonJS, hono, uqr and yaml in the sandbox. Their licences ask to be carried too. */
async function writeLicences(): Promise<void> {
  const licences = ['ky/license', 'hono/LICENSE', 'uqr/LICENSE', 'yaml/LICENSE', 'zod/LICENSE'].map(async path => {
    const text = await readFile(`node_modules/${path}`, 'utf8');
    return `${path.split('/')[0]}\n\n${text.trim()}\n`;
  });
  await writeFile('dist/THIRD-PARTY-LICENCES.txt', (await Promise.all(licences)).join(`\n${'-'.repeat(80)}\n\n`));
}

export default defineConfig([
  // The command lines are programs and no imports: they are ESM only, and have no declarations.
  {
    ...common,
    entry: { ...entry, 'sandbox/cli': 'src/sandbox/cli/main.ts', 'cli/main': 'src/cli/main.ts' },
    format: 'esm',
    onSuccess: writeLicences,
  },
  // ky is ESM only, and Jest cannot require ESM: the CommonJS build carries ky inside.
  { ...common, format: 'cjs', noExternal: ['ky', 'zod', 'uqr', 'yaml'] },
  {
    ...common,
    entry: { 'workerd/index': entry.index },
    format: 'esm',
    dts: false,
    esbuildPlugins: [withoutConnections],
  },
]);
