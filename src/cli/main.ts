#!/usr/bin/env node
// The command line of operators and schedulers: npx payment-gateway-sdk.
import { onReaderGone } from '../terminal/program.ts';
import { run } from './program.ts';

// Without a reader it continues: an upkeep that stops in the middle of a create leaves a doubt.
onReaderGone(() => {});
process.exitCode = await run(process.argv.slice(2));
// A loaded app may keep connections open. The last output leaves first.
process.stdout.write('', () => process.exit());
