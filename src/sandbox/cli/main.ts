#!/usr/bin/env node
// The command line of the sandbox: npx payment-gateway-sandbox.
import { onReaderGone } from '../../terminal/program.ts';
import { run } from './program.ts';

// The command only prints, so it ends once its reader is gone.
onReaderGone(() => process.exit());
process.exitCode = await run(process.argv.slice(2));
