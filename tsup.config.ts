import { readFile, writeFile } from 'node:fs/promises';
import { defineConfig, type Options } from 'tsup';

const entry = {
  index: 'src/index.ts',
  'sandbox/index': 'src/sandbox/index.ts',
  'postgres/index': 'src/once/postgres/index.ts',
  'redis/index': 'src/once/redis/index.ts',
};

const common: Options = {
  entry,
  target: 'node22',
  platform: 'node',
  removeNodeProtocol: false,
  // For a quick run of the demo: NO_TYPES=1 leaves the declarations out.
  dts: process.env.NO_TYPES ? false : { entry },
};

/** What the build carries inside: ky in CommonJS, hono in the sandbox. Their licence asks to be carried too. */
async function writeLicences(): Promise<void> {
  const licences = ['ky/license', 'hono/LICENSE'].map(async path => {
    const text = await readFile(`node_modules/${path}`, 'utf8');
    return `${path.split('/')[0]}\n\n${text.trim()}\n`;
  });
  await writeFile(
    'dist/THIRD-PARTY-LICENCES.txt',
    (await Promise.all(licences)).join(`\n${'-'.repeat(80)}\n\n`),
  );
}

export default defineConfig([
  // The command line is a program and no import: it is ESM only, and has no declarations.
  {
    ...common,
    entry: { ...entry, 'sandbox/cli': 'src/sandbox/cli.ts' },
    format: 'esm',
    onSuccess: writeLicences,
  },
  // ky is ESM only, and Jest cannot require ESM: the CommonJS build carries ky inside.
  { ...common, format: 'cjs', noExternal: ['ky'] },
]);
