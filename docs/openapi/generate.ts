// Writes the descriptions of the gateway and of the sandbox's own API: npm run openapi
import { writeFileSync } from 'node:fs';
import { describeGateway } from './description.ts';
import { describeSandbox } from './sandbox.ts';

for (const [name, description] of Object.entries({ gateway: describeGateway(), sandbox: describeSandbox() })) {
  writeFileSync(new URL(`${name}.json`, import.meta.url), `${JSON.stringify(description, null, 2)}\n`);
}
