#!/usr/bin/env node
// The command line of the sandbox: npx payment-gateway-sandbox.
import { run } from './run.ts';

process.exitCode = await run(process.argv.slice(2));
