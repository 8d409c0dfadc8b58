// The commands of a scheduler: one sweep or one drain of the merchant's app, one line of JSON, and an exit code.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GatewayClient } from '../client.ts';
import { isGatewayError } from '../errors.ts';
import { undrainedScopes } from '../journal/find.ts';
import type { ScopedJournal } from '../journal/reports.ts';
import type { SweepHandler } from '../journal/sweep.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { Values, WorkCommand } from './commands.ts';
import { open } from './open.ts';
import { complain } from './print.ts';

/** What the merchant's module exports. */
interface App {
  gateway: Pick<GatewayClient, 'sweep' | 'drain'>;
  handler?: SweepHandler | undefined;
  close?: (() => unknown) | undefined;
}

/** Something needs a person; or it failed, and is tried again next time. */
const LOOK = 1;
const LATER = 2;

/** Of schedulers, and of people. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Works until nothing is due, or until somebody stops it: what has begun is finished. @returns the exit code */
export async function work(command: WorkCommand): Promise<number> {
  const stop = new AbortController();
  const onStop = () => stop.abort();
  // Also while the app is loaded, which opens its database. The second one ends the process at once.
  for (const signal of SIGNALS) process.once(signal, onStop);
  try {
    return await workUntil(stop.signal, command);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onStop);
  }
}

async function workUntil(signal: AbortSignal, { name, values }: WorkCommand): Promise<number> {
  const { app, limit, concurrency, follow } = values;
  const { gateway, handler, close } = await (app ? openApp(app, values) : openOwn(name, values));
  try {
    if (name === 'drain') {
      const drained = await gateway.drain({ limit, concurrency, follow, signal });
      if (drained.postponed > 0) complain(waitingOf(drained.postponed));
      return ended(name, drained, drained.refused + drained.inDoubt, drained.postponed);
    }
    if (!handler) throw new UsageError(`${app} exports no handler: what createWebhookHandler returned.`);
    const { 'older-than': olderThan, 'give-up-after': giveUpAfter } = values;
    const swept = await gateway.sweep({ limit, concurrency, olderThan, giveUpAfter, handler, signal });
    return ended(name, swept, swept.gaveUp, swept.failed);
  } catch (error) {
    // Of an app, whose database is its own.
    if (!app || isGatewayError(error) || error instanceof UsageError) throw error;
    throw new UsageError(`The ${name} of ${app} failed: ${messageOf(error)}. The next one does the rest.`);
  } finally {
    await close?.();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Its counts alone would not say why: it may be an earlier drain that could not send them. */
const waitingOf = (count: number): string =>
  `${count} planned, and not sent yet: each waits for its next try. The warnings of the drain that tried say why.`;

function ended(command: string, counts: object, toLookAt: number, failed: number): number {
  line({ command, ...counts });
  return toLookAt > 0 ? LOOK : failed > 0 ? LATER : 0;
}

const line = (fields: object) => console.log(JSON.stringify({ time: new Date().toISOString(), ...fields }));

/** By the environment, as for the other commands. What becomes of each reference is a line too. */
async function openOwn(name: WorkCommand['name'], values: Values): Promise<App> {
  if (name === 'sweep') {
    throw new UsageError(
      'sweep lets payments take effect by your onPayment: pass --app <file>, a module of your app that exports its gateway and its handler.',
    );
  }
  const opened = open(values, process.env, event => {
    if (event.type === 'journal' || event.type === 'warning') line(event);
  });
  const { journal, scope } = opened;
  if (!scope) {
    throw new UsageError('drain needs the scope of the journal: --scope <scope>, or PAYMENT_GATEWAY_JOURNAL_SCOPE.');
  }
  // Where the database fails, the drain says so.
  await complainOfOthers({ journal, scope }).catch(() => {});
  return opened;
}

/** A scope that is mistyped must not look as if all were sent. */
async function complainOfOthers(client: ScopedJournal): Promise<void> {
  const others = await undrainedScopes(client);
  if (others.length === 0) return;
  const names = others.join(', ');
  complain(
    `Nothing is planned in scope ${client.scope}, and nobody drains these scopes: ${names}. Is --scope that of the app?`,
  );
}

/** @throws {UsageError} for a module that is not there, or exports something else */
async function openApp(file: string, values: Values): Promise<App> {
  for (const option of ['scope', 'table'] as const) {
    if (values[option] === undefined) continue;
    throw new UsageError(`--${option} is for a drain without --app: the journal of an app has its own.`);
  }
  const { href } = pathToFileURL(resolve(file));
  const exported: { default?: object } = await import(href).catch(error => {
    const hint = /\.[cm]?tsx?$/.test(file) ? '. Load what it compiles to, or set NODE_OPTIONS="--import tsx"' : '';
    throw new UsageError(`${file} cannot be loaded: ${messageOf(error)}${hint}`);
  });
  // A CommonJS module has its exports in default.
  const app = { ...exported.default, ...exported } as Partial<App>;
  if (typeof app.gateway?.drain === 'function') return app as App;
  throw new UsageError(
    `${file} exports no gateway: your GatewayClient. Export gateway, handler, and close if it has one.`,
  );
}
