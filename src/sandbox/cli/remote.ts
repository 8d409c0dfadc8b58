// What the command line asks of a sandbox that runs already: to play a scenario, or to arm a fault.

import { UsageError } from '../../terminal/arguments.ts';
import { printable } from '../../terminal/printable.ts';
import { SERVER_NAME } from '../api/server.ts';
import type { Played } from '../scenarios.ts';
import type { Command } from './arguments.ts';
import { callbackLine } from './lines.ts';

type Print = (line: string) => void;

/**
 * @returns whether every callback was taken, forged ones aside
 * @throws {UsageError} if no sandbox answers there, or it refuses
 */
export async function trigger(
  { port, scenario, to }: Extract<Command, { name: 'trigger' }>,
  print: Print,
): Promise<boolean> {
  const response = await ask(port, `/scenarios/${scenario}`, { ...(to && { to }) });
  const { payment, deliveries } = (await response.json()) as Played;
  print(`${payment.paymentStatus}  ${printable(payment.reference ?? '')}  ${payment.id}`);
  for (const delivery of deliveries) print(callbackLine(delivery));
  return deliveries.every(({ status = 0, fault }) => fault === 'callback-forge' || (status >= 200 && status < 300));
}

/** @throws {UsageError} if no sandbox answers there, or it refuses */
export async function arm({ port, fault, on, ms }: Extract<Command, { name: 'fault' }>, print: Print): Promise<void> {
  await ask(port, '/faults', { fault, on, ...(ms !== undefined && { ms: String(ms) }) });
  print(`armed: ${fault}`);
}

async function ask(port: number, path: string, form: Record<string, string>): Promise<Response> {
  const url = `http://127.0.0.1:${port}`;
  const response = await fetch(url + path, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  }).catch(() => {
    throw new UsageError(`No sandbox answers at ${url}. Start one: npx payment-gateway-sandbox --port ${port}`);
  });
  if (response.headers.get('server') !== SERVER_NAME) {
    throw new UsageError(`The server at ${url} is not the sandbox: pass its --port.`);
  }
  if (response.status >= 400) throw new UsageError(printable(await response.text()));
  return response;
}
