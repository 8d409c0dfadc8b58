#!/usr/bin/env node
// The command line of operators and schedulers: npx payment-gateway-sdk.
import { outliveReader } from '../terminal/output.ts';
import { run } from './run.ts';

// A drain that stopped in the middle of a create would leave a doubt, and say that all is well.
outliveReader();
process.exitCode = await run(process.argv.slice(2));
// The app of a sweep or a drain may keep connections open. What was printed goes out first.
process.stdout.write('', () => process.exit());
