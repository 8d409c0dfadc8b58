// An app that is bundled with the client into one file, as for AWS Lambda, and runs where nothing is installed.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from './consumer.ts';
import { folderInApp } from './tarball.ts';
import { load } from './tools.ts';

type Format = 'esm' | 'cjs';

/** How each bundler makes one file of another, for Node. */
const BUNDLERS: Record<string, (entry: string, file: string, format: Format, minify: boolean) => Promise<unknown>> = {
  esbuild: (entry, file, format, minify) =>
    build({ entryPoints: [entry], outfile: file, format, minify, bundle: true, platform: 'node', target: 'node22' }),
  rollup: async (entry, file, format) => {
    const plugins = [load('@rollup/plugin-node-resolve').default(), load('@rollup/plugin-commonjs').default()];
    const bundle = await load('rollup').rollup({ input: entry, external: /^node:/, plugins });
    await bundle.write({ file, format, inlineDynamicImports: true });
  },
  webpack: (entry, file, format, minify) =>
    new Promise((resolve, reject) => {
      const webpack = load('webpack');
      const options = {
        context: join(entry, '..'),
        entry,
        target: 'node22',
        mode: minify ? 'production' : 'development',
        devtool: false,
        output: {
          path: join(file, '..'),
          filename: file.slice(join(file, '..').length + 1),
          module: format === 'esm',
          chunkFormat: format === 'esm' ? 'module' : 'commonjs',
        },
        experiments: { outputModule: format === 'esm' },
        plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
      };
      webpack(options, (error: unknown, stats: { hasErrors(): boolean; toString(): string }) =>
        error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve(undefined),
      );
    }),
  vite: (entry, file, format, minify) =>
    load('vite').build({
      root: join(entry, '..'),
      configFile: false,
      logLevel: 'error',
      ssr: { noExternal: true },
      build: {
        ssr: entry,
        outDir: join(file, '..'),
        emptyOutDir: false,
        minify,
        target: 'node22',
        rollupOptions: {
          external: builtinModules.flatMap(name => [name, `node:${name}`]),
          output: { format, entryFileNames: file.slice(join(file, '..').length + 1), codeSplitting: false },
        },
      },
    }),
};

describe('a bundle with the client', () => {
  const app = folderInApp();
  let empty = '';
  let url = '';
  let close = async () => {};
  beforeAll(async () => {
    empty = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-bundles-'));
    ({ url, close } = await new Sandbox().listen());
  });
  afterAll(async () => {
    rmSync(empty, { recursive: true, force: true });
    await close();
  });

  it.each(Object.keys(BUNDLERS).flatMap(name => (['esm', 'cjs'] as const).map(format => [name, format] as const)))(
    'by %s as %s runs alone, and has nothing of the sandbox',
    async (name, format) => {
      const file = join(empty, `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`);
      await BUNDLERS[name]?.(join(app, 'bundled.mjs'), file, format, false);
      const { stdout } = await promisify(execFile)(process.execPath, [file, url], { cwd: empty });
      expect(stdout).toBe('PENDING\n');
      const code = readFileSync(file, 'utf8');
      expect(code).toContain('/api/v1/payments');
      expect(code).not.toMatch(/No money moves|Sandbox gateway/);
    },
  );

  it('takes no more than docs/versioning.md says', async () => {
    const file = join(empty, 'small.mjs');
    await BUNDLERS.esbuild?.(join(app, 'bundled.mjs'), file, 'esm', true);
    const code = readFileSync(file);
    const sizes = [code.length, gzipSync(code).length].map(size => Math.ceil(size / 1024));
    const document = readFileSync(join(root, 'docs/versioning.md'), 'utf8');
    const [, ...limits] =
      /minified by esbuild, takes less\s+than (\d+) KiB, and (\d+) KiB\s+with gzip/.exec(document) ?? [];
    expect(limits).toHaveLength(2);
    for (const [index, limit] of limits.entries()) {
      expect(sizes[index]).toBeLessThan(Number(limit));
      // What is said is near the truth.
      expect(sizes[index]).toBeGreaterThan(Number(limit) * 0.9);
    }
  });
});
