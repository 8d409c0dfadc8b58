#!/usr/bin/env node
// The command line of operators and schedulers: npx payment-gateway-sdk.
import { endWithReader } from '../terminal/output.ts';
import { run } from './run.ts';

endWithReader();
process.exitCode = await run(process.argv.slice(2));
// The app of a sweep or a drain may keep connections open. What was printed goes out first.
process.stdout.write('', () => process.exit());
