// Runs the sandbox until it is stopped, and prints what happens.
import { styleText } from 'node:util';
import { UsageError } from '../../terminal/arguments.ts';
import type { Listening } from '../api/server.ts';
import { environmentOf } from '../environment.ts';
import type { SandboxEvent } from '../event-bus.ts';
import { Sandbox } from '../sandbox.ts';
import type { Auto, ServeOptions } from './arguments.ts';
import { lineOf } from './lines.ts';

type Print = (line: string) => void;

/** @throws {UsageError} if the port is busy, or an option is refused */
export async function serve({ port, auto, ...options }: ServeOptions, print: Print): Promise<Listening> {
  const onEvent = (event: SandboxEvent) => {
    const line = lineOf(event);
    if (line) print(`${styleText('dim', new Date().toTimeString().slice(0, 8))} ${line}`);
    if (event.type === 'request' && event.method === 'POST' && event.paymentId) {
      for (const move of auto) moveLater(sandbox, event.paymentId, move);
    }
  };
  const sandbox = new Sandbox({ ...options, onEvent });
  const listening = await sandbox.listen({ port }).catch(error => {
    throw new UsageError(problemOf(error, port));
  });
  print(greeting(sandbox, listening.url, options.forwardTo));
  const close = () => {
    sandbox.reset(); // nothing that is delayed keeps the process
    return listening.close();
  };
  return { ...listening, close };
}

function greeting(sandbox: Sandbox<'standard' | 'onramp'>, url: string, forwardTo: string | undefined): string {
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
    '',
    '  For the .env of your app:',
    ...environmentOf(url, sandbox.clientOptions).map(line => `    ${line}`),
    ...(further.length > 0 ? [`  and  new GatewayClient({ ${further.join(', ')} })`] : []),
    '',
  ].join('\n');
}

/** A payment that has become final in the meantime is not moved. */
function moveLater(sandbox: Sandbox<'standard' | 'onramp'>, id: string, { move, ms }: Auto): void {
  setTimeout(() => sandbox[move](id).catch(() => {}), ms).unref();
}

function problemOf({ code, message }: NodeJS.ErrnoException, port: number): string {
  if (code === 'EADDRINUSE') {
    return `Port ${port} is in use, perhaps by another sandbox. --port 0 picks a free one.`;
  }
  if (code === 'EACCES') return `No permission to listen on port ${port}. Use a port above 1023.`;
  return message;
}
