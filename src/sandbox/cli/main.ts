#!/usr/bin/env node
// The command line of the sandbox: npx payment-gateway-sandbox.
import { endWithReader } from '../../terminal/output.ts';
import { run } from './run.ts';

endWithReader();
process.exitCode = await run(process.argv.slice(2));
