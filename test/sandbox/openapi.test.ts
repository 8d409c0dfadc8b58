// docs/openapi/sandbox.json: the description of the sandbox's own API, as its routes and the types of their answers are now.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeSandbox } from '../../docs/openapi/sandbox.ts';

it('docs/openapi/sandbox.json says what the routes and the types of their answers say', { tags: ['long'] }, () => {
  // Mend: npm run openapi
  const file = readFileSync(new URL('../../docs/openapi/sandbox.json', import.meta.url), 'utf8');
  expect(file === `${JSON.stringify(describeSandbox(), null, 2)}\n`).toBe(true);
});
