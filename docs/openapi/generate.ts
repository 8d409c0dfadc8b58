// Writes the description of the gateway: npm run openapi
import { writeFileSync } from 'node:fs';
import { describeGateway } from './description.ts';

writeFileSync(new URL('gateway.json', import.meta.url), `${JSON.stringify(describeGateway(), null, 2)}\n`);
