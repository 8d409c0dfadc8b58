// Runs the sandbox until it is stopped, and prints what happens.
import { styleText } from 'node:util';
import { ConfigurationError } from '../../errors.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import type { Listening } from '../api/server.ts';
import { environmentOf } from '../environment.ts';
import type { SandboxEvent } from '../event-bus.ts';
import { Sandbox } from '../sandbox.ts';
import { DEFAULT_PORT } from './commands.ts';
import { timedLineOf } from './lines.ts';
import type { Auto, Values } from './options.ts';
import { notOurs, readState, StateFile } from './state.ts';

type Print = (line: string) => void;
type AnySandbox = Sandbox<'standard' | 'onramp'>;

/** @throws {UsageError} if the port is busy, or an option is refused */
export async function serve(values: Values, print: Print, complain: Print): Promise<Listening> {
  const { port = DEFAULT_PORT, host, json, auto = [], state: file } = values;
  let state: StateFile | undefined;
  let isOver = false;
  const onEvent = (event: SandboxEvent) => {
    if (isOver) return;
    const line = json ? JSON.stringify(event) : timedLineOf(event);
    if (line) print(line);
    state?.touch();
    // A scenario makes the moves of its own payments.
    if (event.type === 'request' && event.method === 'POST' && event.paymentId && !event.isPlayed) {
      for (const move of auto) moveLater(sandbox, event.paymentId, move);
    }
  };
  const saved = file === undefined ? undefined : readState(file);
  const sandbox = openSandbox(values, { onEvent, saved });
  /** Nothing that is delayed keeps the process. */
  const end = () => {
    isOver = true;
    sandbox.reset();
  };
  const listening = await sandbox.listen({ port, host, allowHosts: values['allow-host'] }).catch(error => {
    end();
    throw new UsageError(problemOf(error, port, host));
  });
  const close = async () => {
    await listening.close();
    await state?.close();
    end();
  };
  if (file !== undefined) {
    // Not before it listens: another sandbox, at the same port, may be writing the file.
    const opened = new StateFile(file, () => sandbox.save(), complain);
    await opened.begin().catch(async error => {
      await close();
      throw error;
    });
    state = opened;
  }
  print(json ? JSON.stringify({ type: 'listening', url: listening.url }) : greeting(sandbox, listening.url, values));
  return { ...listening, close };
}

function openSandbox(
  values: Values,
  rest: Pick<ConstructorParameters<typeof Sandbox>[0] & object, 'onEvent' | 'saved'>,
) {
  try {
    return new Sandbox<'standard' | 'onramp'>({
      apiKey: values['api-key'],
      signKey: values['sign-key'],
      signatureEncoding: values['signature-encoding'],
      terminal: values.terminal,
      payid: values.payid,
      shape: values.shape,
      shopName: values['shop-name'],
      forwardTo: values['forward-to'],
      callbackQuery: values['callback-query'],
      callbackRetries: values['callback-retries'],
      latency: values.latency,
      seed: values.seed,
      maxPayments: values['max-payments'],
      maxDeliveries: values['max-deliveries'],
      ...rest,
    });
  } catch (error) {
    if (error instanceof ConfigurationError && error.message.includes('saved')) throw notOurs(values.state ?? '');
    throw error;
  }
}

function greeting(sandbox: AnySandbox, url: string, values: Values): string {
  const { signatureEncoding, terminal } = sandbox.clientOptions;
  const further = [
    signatureEncoding !== 'hex' && `signatureEncoding: '${signatureEncoding}'`,
    terminal !== 'standard' && `terminal: '${terminal}'`,
  ].filter(Boolean);
  const { state } = values;
  return [
    '',
    `  ${styleText('bold', 'Payment gateway sandbox')}`,
    `  Gateway and dashboard  ${styleText('cyan', url)}`,
    `  Callbacks go to        ${values['forward-to'] ?? "each payment's own webhookUrl, if it is on loopback"}`,
    ...(state === undefined ? [] : [`  Everything is kept in  ${state} (${sandbox.payments.length} payments)`]),
    '',
    '  For the .env of your app, which node --env-file=.env reads:',
    ...environmentOf(url, sandbox.clientOptions).map(line => `    ${line}`),
    ...(further.length > 0 ? [`  and  new GatewayClient({ ${further.join(', ')} })`] : []),
    '',
  ].join('\n');
}

/** A payment that has become final in the meantime is not moved. */
function moveLater(sandbox: AnySandbox, id: string, { move, ms }: Auto): void {
  setTimeout(() => sandbox[move](id).catch(() => {}), ms).unref();
}

function problemOf({ code, message }: NodeJS.ErrnoException, port: number, host: string | undefined): string {
  if (code === 'EADDRINUSE') {
    return `Port ${port} is in use, perhaps by another sandbox. --port 0 picks a free one.`;
  }
  if (code === 'EACCES') return `No permission to listen on port ${port}. Use a port above 1023.`;
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code ?? ''))
    return `--host: this machine has no address ${host}.`;
  return message;
}
