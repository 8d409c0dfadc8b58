// The commands of a scheduler: one sweep or drain, one line of JSON with its counts, and an exit code.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import type { GatewayClient } from '../client.ts';
import { undrainedScopes } from '../journal/find.ts';
import type { SweepHandler } from '../journal/sweep.ts';
import { CommandError, complain, FAILED, LOOK } from '../terminal/program.ts';
import { open, type Place } from './open.ts';
import { NAME } from './print.ts';

/** The exports of the merchant's module. */
interface App {
  gateway: Pick<GatewayClient, 'sweep' | 'drain'>;
  handler?: SweepHandler | undefined;
  close?: (() => unknown) | undefined;
}

interface Options extends Place {
  app?: string;
  limit?: number;
  concurrency?: number;
  follow?: true;
  olderThan?: number;
  giveUpAfter?: number;
}

/** Works until nothing is due. After SIGTERM or SIGINT it only finishes started work. @returns the exit code */
export async function work(name: 'drain' | 'sweep', options: Options, command: Command): Promise<number> {
  const stop = new AbortController();
  const onStop = () => stop.abort();
  // Before the app is loaded, which opens its database. A second signal ends the process.
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, onStop);
  let app: App | undefined;
  try {
    app = await openApp(options, command);
    return await (name === 'drain' ? drain(app, options, stop.signal) : sweep(app, options, stop.signal));
  } finally {
    await app?.close?.();
    for (const signal of ['SIGTERM', 'SIGINT']) process.off(signal, onStop);
  }
}

async function drain({ gateway }: App, { limit, concurrency, follow }: Options, signal: AbortSignal): Promise<number> {
  const drained = await gateway.drain({ limit, concurrency, follow, signal });
  line({ command: 'drain', ...drained });
  const { refused, inDoubt, postponed } = drained;
  if (postponed > 0) complain(NAME, `${postponed} creates wait for their next try. Earlier warnings give the reasons.`);
  return refused + inDoubt > 0 ? LOOK : postponed > 0 ? FAILED : 0;
}

async function sweep(
  { gateway, handler }: App,
  { app, limit, concurrency, olderThan, giveUpAfter }: Options,
  signal: AbortSignal,
): Promise<number> {
  if (!handler) throw new CommandError(`${app} exports no handler: the result of createWebhookHandler.`);
  const swept = await gateway.sweep({ limit, concurrency, olderThan, giveUpAfter, handler, signal });
  line({ command: 'sweep', ...swept });
  return swept.gaveUp > 0 ? LOOK : swept.failed > 0 ? FAILED : 0;
}

const line = (fields: object) => console.log(JSON.stringify({ time: new Date().toISOString(), ...fields }));

async function openApp({ app, ...place }: Options, command: Command): Promise<App> {
  if (app === undefined) return openOwn(place);
  const misplaced = ['scope', 'table'].find(option => command.getOptionValueSource(option) === 'cli');
  if (misplaced) throw new CommandError(`--${misplaced} is for a drain without --app.`);
  return load(app);
}

/** Makes a client from the environment, and prints the events of each reference as lines too. */
async function openOwn(place: Place): Promise<App> {
  const opened = open(place, event => {
    if (event.type === 'journal' || event.type === 'warning') line(event);
  });
  const { journal, scope } = opened;
  if (!scope) throw new CommandError('drain needs --app <file>, or --scope <scope>.');
  // A mistyped scope must not look as if all were sent. If the database fails, the drain reports it.
  const others = await undrainedScopes({ journal, scope }).catch(() => []);
  const plans = `Scope ${scope} has no plans, and no drain serves these scopes: ${others.join(', ')}.`;
  if (others.length > 0) complain(NAME, `${plans} Pass your app's --scope.`);
  return opened;
}

/** @throws {CommandError} for a missing module, or one with other exports */
async function load(file: string): Promise<App> {
  const exported: { default?: object } = await import(pathToFileURL(resolve(file)).href).catch(error => {
    const hint = /\.[cm]?tsx?$/.test(file) ? '. Load its compiled file, or set NODE_OPTIONS="--import tsx"' : '';
    throw new CommandError(`${file} cannot be loaded: ${error instanceof Error ? error.message : error}${hint}`);
  });
  // A CommonJS module has its exports in default.
  const app = { ...exported.default, ...exported } as Partial<App>;
  if (typeof app.gateway?.drain === 'function') return app as App;
  throw new CommandError(`${file} must export gateway, handler, and close if it has one.`);
}
