// Runs the sandbox until it is stopped, and prints its events.
import { styleText } from 'node:util';
import { CommandError } from '../../terminal/program.ts';
import type { SandboxEvent } from '../log/events.ts';
import { Sandbox } from '../sandbox.ts';
import type { SandboxOptions } from '../sandbox-options.ts';
import { environmentOf } from '../text/environment.ts';
import { timedLineOf } from './lines.ts';
import { stateFile } from './state.ts';
import type { Auto } from './values.ts';

type Print = (line: string) => void;
type AnySandbox = Sandbox<'standard' | 'onramp'>;

export interface ServeOptions extends SandboxOptions {
  port: number;
  host?: string;
  allowHost?: string[];
  auto?: Auto[];
  state?: string;
  skipVerify?: true;
  json?: true;
}

/** @throws {CommandError} if the port is busy, or an option is refused */
export async function serve(options: ServeOptions, print: Print, complain: Print) {
  const { port, host, allowHost, json, auto = [], state: file, skipVerify, ...own } = options;
  if (skipVerify) {
    if (!own.forwardTo?.startsWith('https:')) throw new CommandError('--skip-verify is for --forward-to https://….');
    // Node reads it at each connection, and this process connects only to post callbacks.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  }
  const state = file === undefined ? undefined : stateFile(file, () => sandbox.save(), complain);
  let isOver = false;
  const onEvent = (event: SandboxEvent) => {
    if (isOver) return;
    const line = json ? JSON.stringify(event) : timedLineOf(event);
    if (line) print(line);
    state?.touch();
    // A scenario makes the moves of its own payments.
    if (event.type === 'request' && event.method === 'POST' && event.paymentId && !event.isPlayed) {
      const { paymentId } = event;
      // A payment that is final by that time stays unchanged.
      for (const { move, ms } of auto) setTimeout(() => sandbox[move](paymentId).catch(() => {}), ms).unref();
    }
  };
  const sandbox: AnySandbox = new Sandbox({ ...own, onEvent, saved: state?.saved });
  /** Also ends delayed work, which must not keep the process alive. */
  const end = () => {
    state?.close();
    isOver = true;
    sandbox.reset();
  };
  const listening = await sandbox.listen({ port, host, allowHosts: allowHost }).catch(({ code, message }) => {
    end();
    if (code !== 'EADDRINUSE') throw new CommandError(message);
    throw new CommandError(`Port ${port} is in use, perhaps by another sandbox. --port 0 picks a free one.`);
  });
  state?.write();
  const { url } = listening;
  print(json ? JSON.stringify({ type: 'listening', url }) : greeting(sandbox, url, options));
  return { url, close: () => listening.close().then(end) };
}

function greeting(sandbox: AnySandbox, url: string, { state, forwardTo }: ServeOptions) {
  const { signatureEncoding, terminal } = sandbox.clientOptions;
  const further = [
    signatureEncoding !== 'hex' && `signatureEncoding: '${signatureEncoding}'`,
    terminal !== 'standard' && `terminal: '${terminal}'`,
  ].filter(Boolean);
  return [
    '',
    `  ${styleText('bold', 'Payment gateway sandbox')}`,
    `  Gateway and dashboard  ${styleText('cyan', url)}`,
    `  Callbacks go to        ${forwardTo ?? "each payment's own webhookUrl, if it is on loopback"}`,
    ...(state === undefined ? [] : [`  Everything is kept in  ${state} (${sandbox.payments.length} payments)`]),
    '',
    '  For the .env of your app, which node --env-file=.env reads:',
    ...environmentOf(url, sandbox.clientOptions).map(line => `    ${line}`),
    ...(further.length > 0 ? [`  and  new GatewayClient({ ${further.join(', ')} })`] : []),
    '',
  ].join('\n');
}
