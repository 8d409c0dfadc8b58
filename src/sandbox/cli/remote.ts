// What the command line asks of a sandbox that runs already: to play a scenario, or to arm a fault.
import type { Played } from '../scenarios.ts';
import { callbackLine, printable } from './lines.ts';
import { type Command, UsageError } from './options.ts';

type Print = (line: string) => void;

/** @throws {UsageError} if no sandbox answers there, or it refuses */
export async function trigger(
  { port, scenario, to }: Extract<Command, { name: 'trigger' }>,
  print: Print,
): Promise<void> {
  const response = await ask(port, `/scenarios/${scenario}`, { ...(to && { to }) });
  const { payment, deliveries } = (await response.json()) as Played;
  print(`${payment.paymentStatus}  ${printable(payment.reference ?? '')}  ${payment.id}`);
  for (const delivery of deliveries) print(callbackLine(delivery));
}

/** @throws {UsageError} if no sandbox answers there, or it refuses */
export async function arm(
  { port, fault, on, ms }: Extract<Command, { name: 'fault' }>,
  print: Print,
): Promise<void> {
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
    throw new UsageError(
      `No sandbox answers at ${url}. Start one: npx payment-gateway-sandbox --port ${port}`,
    );
  });
  if (response.status >= 400) throw new UsageError(printable(await response.text()));
  return response;
}
