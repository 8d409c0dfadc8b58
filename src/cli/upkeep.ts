// The command of a scheduler or a worker: runs the upkeep of an app, and prints its counts as a line of JSON.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GatewayClient } from '../client.ts';
import { CommandError, complain, FAILED, LOOK } from '../terminal/program.ts';
import type { Upkeep, UpkeepOptions } from '../upkeep/upkeep.ts';
import { NAME } from './print.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'];

interface App {
  gateway: Pick<GatewayClient, 'upkeep'>;
  handler: UpkeepOptions['handler'];
  close?(): unknown;
}

type Options = { app: string } & Omit<UpkeepOptions, 'handler' | 'signal'>;

/** Runs until SIGTERM, SIGINT, or the end of the due work, and finishes its running work. @returns the exit code */
export async function upkeep({ app: file, ...options }: Options) {
  const stop = new AbortController();
  const onStop = () => stop.abort();
  // Before the app opens its database. A second signal ends the process.
  for (const signal of SIGNALS) process.once(signal, onStop);
  let app: App | undefined;
  try {
    app = await load(file);
    const { gateway, handler } = app;
    const counts = await gateway.upkeep({ ...options, handler, signal: stop.signal });
    console.log(JSON.stringify({ time: new Date().toISOString(), command: 'upkeep', ...counts }));
    return options.once ? exitCodeOf(counts) : 0;
  } finally {
    await app?.close?.();
    for (const signal of SIGNALS) process.off(signal, onStop);
  }
}

function exitCodeOf({ swept, sent }: Upkeep) {
  if (sent.postponed > 0) complain(NAME, `${sent.postponed} payouts wait for the next upkeep.`);
  if (sent.refused + sent.inDoubt + swept.gaveUp > 0) return LOOK;
  return sent.postponed + swept.failed > 0 ? FAILED : 0;
}

/** @throws {CommandError} for a missing module, or one with other exports */
async function load(file: string): Promise<App> {
  const exported: { default?: object } = await import(pathToFileURL(resolve(file)).href).catch(error => {
    const hint = /\.[cm]?tsx?$/.test(file) ? '. Load its compiled file, or set NODE_OPTIONS="--import tsx"' : '';
    throw new CommandError(`${file} cannot be loaded: ${error?.message ?? error}${hint}`);
  });
  // A CommonJS module has its exports in default.
  const app = { ...exported.default, ...exported } as Partial<App>;
  if (typeof app.gateway?.upkeep === 'function' && typeof app.handler === 'function') return app as App;
  await app.close?.();
  throw new CommandError(`${file} must export gateway, handler, and close if it has one.`);
}
