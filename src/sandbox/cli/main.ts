#!/usr/bin/env node
// The command line of the sandbox: npx payment-gateway-sandbox.
import { onReaderGone } from '../../terminal/program.ts';
import { run } from './program.ts';

// Without a reader it ends, because it only prints.
onReaderGone(() => process.exit());
process.exitCode = await run(process.argv.slice(2));
