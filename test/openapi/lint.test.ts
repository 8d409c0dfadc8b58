// Every OpenAPI description in docs/openapi.
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lint, readDescription } from './contract.ts';

const names = readdirSync(new URL('../../docs/openapi/', import.meta.url)).filter(name => name.endsWith('.json'));

it('finds the descriptions', () => {
  expect(names).toContain('gateway.json');
});

it.each(names)('%s keeps to OpenAPI 3.1, and each of its examples to its schema', async name => {
  expect(await lint(readDescription(name))).toEqual([]);
});
