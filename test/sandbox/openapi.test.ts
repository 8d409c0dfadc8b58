// docs/openapi/sandbox.json: the description of the sandbox's own API as a file, in which a change is seen in a review.
import { readFileSync, writeFileSync } from 'node:fs';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it } from 'vitest';

it('docs/openapi/sandbox.json is what the sandbox answers', async () => {
  const response = await new Sandbox().fetch('http://sandbox.localhost/_sandbox/openapi.json');
  const served = `${JSON.stringify(await response.json(), null, 2)}\n`;
  const file = new URL('../../docs/openapi/sandbox.json', import.meta.url);
  // Mend: UPDATE_DOCS=1 npx vitest run --project unit test/sandbox/openapi.test.ts
  if (process.env.UPDATE_DOCS) writeFileSync(file, served);
  expect(served).toBe(readFileSync(file, 'utf8'));
});
