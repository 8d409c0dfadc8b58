import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { defineConfig, type Options } from 'tsup';

const entry = {
  index: 'src/index.ts',
  'sandbox/index': 'src/sandbox/index.ts',
  'postgres/index': 'src/postgres/index.ts',
  'mysql/index': 'src/mysql/index.ts',
  'otel/index': 'src/otel/index.ts',
  'testing/index': 'src/testing/index.ts',
};

// TypeScript 7 loads no types by default, and the declarations name some of Node's.
const dts = { entry, banner: '/// <reference types="node" />' };

/** The sandbox imports scripts for the browser, and its description, as text: `./script.js?raw`. */
const rawFiles: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'raw-files',
  setup: build =>
    build.onLoad({ filter: /\.js(?:on)?$/ }, ({ path, suffix }) =>
      suffix === '?raw' ? { contents: readFileSync(path, 'utf8'), loader: 'text' } : undefined,
    ),
};

const common: Options = {
  entry,
  target: 'node22',
  platform: 'node',
  removeNodeProtocol: false,
  // tsup bundles the dev dependencies that src imports: commander, hono, idiomorph, uqr and yaml.
  noExternal: ['zod', 'ky'],
  esbuildPlugins: [rawFiles],
  loader: { '.css': 'text', '.yaml': 'text' },
  sourcemap: true,
  esbuildOptions: options => {
    // The maps lead to src, which the package contains.
    options.sourcesContent = false;
    // The default build of yaml is CommonJS, which an ESM bundle cannot load.
    options.alias = { yaml: './node_modules/yaml/browser/index.js' };
  },
};

export default defineConfig([
  // Command lines are ESM only.
  {
    ...common,
    entry: { ...entry, 'sandbox/cli': 'src/sandbox/cli/main.ts', 'cli/main': 'src/cli/main.ts' },
    format: 'esm',
    dts,
    onSuccess: async () => {
      const licences = globSync('node_modules/{commander,hono,idiomorph,ky,uqr,yaml,zod}/*').filter(file =>
        /license$/i.test(file),
      );
      const texts = licences.sort().map(file => `${file.split(/[\\/]/)[1]}\n\n${readFileSync(file, 'utf8').trim()}\n`);
      writeFileSync('dist/THIRD-PARTY-LICENCES.txt', texts.join(`\n${'-'.repeat(80)}\n\n`));
    },
  },
  // tsup's splitting of CommonJS breaks classes with fields.
  { ...common, format: 'cjs', splitting: false, dts },
]);
