import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests and examples import the package by its name, and get its source.
    alias: [
      { find: 'payment-gateway-sdk/sandbox', replacement: source('sandbox/index.ts') },
      { find: 'payment-gateway-sdk', replacement: source('index.ts') },
    ],
  },
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/package/**'] } },
      { extends: true, test: { name: 'package', include: ['test/package/*.test.ts'], testTimeout: 120_000 } },
    ],
  },
});
