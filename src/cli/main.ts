#!/usr/bin/env node
// The operator's command line: npx payment-gateway-sdk.
import { run } from './run.ts';

process.exitCode = await run(process.argv.slice(2));
