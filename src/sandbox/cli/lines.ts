// What the command line prints while the sandbox runs: one line for each thing that happens.
import { styleText } from 'node:util';
import { printable } from '../../terminal/printable.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import type { SandboxEvent } from '../event-bus.ts';

const dim = (text: string) => styleText('dim', text);
const good = (text: string) => styleText('green', text);
const bad = (text: string) => styleText('red', text);

const milliseconds = (duration: number | undefined) => dim(`${Math.round(duration ?? 0)} ms`);

/** Undefined for what is not worth a line. */
export function lineOf(event: SandboxEvent): string | undefined {
  switch (event.type) {
    case 'request': {
      const { method, path, status, durationMs, message, fault, paymentId } = event;
      const outcome = status === undefined ? bad('broken') : (status < 300 ? good : bad)(String(status));
      const made = method === 'POST' && paymentId && dim(paymentId);
      return [
        `${outcome} ${method} ${printable(path)}`,
        made,
        milliseconds(durationMs),
        fault && bad(`fault: ${fault}`),
        message && printable(message),
      ]
        .filter(Boolean)
        .join('  ');
    }
    case 'move':
      return `    ${event.paymentStatus}  ${printable(event.reference ?? '')}  ${dim(event.paymentId)}`;
    case 'callback':
      return callbackLine(event.delivery);
    case 'fault':
      return event.fault ? `    armed: ${event.fault}` : '    disarmed';
    case 'reset':
      return '    reset';
  }
}

export function callbackLine({ paymentStatus, url, status, error, durationMs, fault }: Delivery): string {
  const outcome = status === undefined ? bad('---') : (status < 300 ? good : bad)(String(status));
  const why = error && bad(printable(error));
  return [
    `${outcome} callback ${paymentStatus} → ${printable(url)}`,
    why ?? milliseconds(durationMs),
    fault && bad(`fault: ${fault}`),
  ]
    .filter(Boolean)
    .join('  ');
}
