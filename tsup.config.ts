import { defineConfig, type Options } from 'tsup';

const common: Options = {
  entry: { index: 'src/index.ts', 'sandbox/index': 'src/sandbox/index.ts' },
  target: 'node22',
  platform: 'node',
  removeNodeProtocol: false,
  // For a quick run of the demo: NO_TYPES=1 leaves the declarations out.
  dts: !process.env.NO_TYPES,
};

export default defineConfig([
  { ...common, format: 'esm' },
  // ky is ESM only, and Jest cannot require ESM: the CommonJS build carries ky inside.
  { ...common, format: 'cjs', noExternal: ['ky'] },
]);
