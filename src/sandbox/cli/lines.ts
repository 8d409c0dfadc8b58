// Formats events and lists for the command line, one line each.
import { styleText } from 'node:util';
import { printable, table } from '../../terminal/text.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import type { ShownPayment } from '../control/payments.ts';
import { type Armed, sentenceOf } from '../faults/faults.ts';
import type { Fault } from '../faults/kinds.ts';
import type { PaymentRecord } from '../ledger/record.ts';
import type { SandboxEvent } from '../log/events.ts';
import type { Played } from '../scenarios/play.ts';
import { type Report, summaryOf } from '../scenarios/report.ts';
import { money } from '../text/money.ts';

const dim = (text: string) => styleText('dim', text);
const good = (text: string) => styleText('green', text);
const bad = (text: string) => styleText('red', text);

const milliseconds = (duration = 0) => dim(`${Math.round(duration)} ms`);

const statusText = (status: number | undefined, missing: string) =>
  (status && status < 300 ? good : bad)(String(status ?? missing));

/** Hours, minutes and seconds, on this machine's clock. */
const clockTime = (at: number) => new Date(at).toTimeString().slice(0, 8);

export function timedLineOf(event: SandboxEvent) {
  const line = lineOf(event);
  return line && `${dim(clockTime(event.at))} ${line}`;
}

/** Returns undefined for an event of a later version. */
export function lineOf(event: SandboxEvent): string | undefined {
  switch (event.type) {
    case 'request': {
      const { method, path, status, durationMs, message, correction, fault, paymentId } = event;
      const call = `${statusText(status, 'broken')} ${method} ${printable(path)}`;
      const made = method === 'POST' && paymentId && dim(paymentId);
      const line = joined(call, made, milliseconds(durationMs), faultText(fault), message && printable(message));
      const isOneLine = correction && !correction.php.includes('\n');
      return isOneLine ? `${line}\n${table(Object.entries(correction))}` : line;
    }
    case 'move': {
      const moved = paymentLine({ ...event, id: dim(event.paymentId) });
      return joined(`    ${moved}`, event.amount !== undefined && bad(`paid: ${event.amount}`));
    }
    case 'callback-waits': {
      const { paymentStatus, due, fault } = event;
      const until = due === undefined ? 'the next one of its payment' : clockTime(due);
      return joined(`    callback ${paymentStatus} waits for ${until}`, faultText(fault));
    }
    case 'callback':
      return callbackLine(event.delivery);
    case 'fault':
      if (!event.fault) return '    disarmed';
      return `    ${event.isDisarmed ? 'disarmed' : 'armed'}: ${event.fault}`;
    case 'clock':
      return `    clock: ${event.offset < 0 ? '' : '+'}${event.offset} ms`;
    case 'scenario':
      return `    ${event.name}: ${event.problems.length === 0 ? good('as expected') : bad('not as expected')}`;
    case 'reset':
      return '    reset';
  }
}

const joined = (...parts: (string | undefined | false)[]) => parts.filter(Boolean).join('  ');

const faultText = (fault: Fault | undefined) => fault && bad(`fault: ${fault}`);

export function callbackLine({ id, paymentStatus, url, status, error, durationMs, fault, repeats }: Delivery) {
  const posted = `${statusText(status, '---')} callback ${paymentStatus} → ${printable(url)}`;
  const end = error ? bad(printable(error)) : milliseconds(durationMs);
  return joined(posted, end, faultText(fault), dim(`delivery ${id}${repeats ? `, again ${repeats}` : ''}`));
}

export const paymentLine = (payment: Pick<PaymentRecord, 'paymentStatus' | 'reference' | 'id'>) =>
  `${payment.paymentStatus}  ${printable(payment.reference ?? '')}  ${payment.id}`;

const HEAD = ['STATE', 'REFERENCE', 'AMOUNT', 'METHOD', 'CREATED', 'ID'];

export function paymentsText({ payments, total }: { payments: PaymentRecord[]; total: number }) {
  if (total === 0) return 'No such payment.';
  const rows = payments.map(payment => {
    const { paymentStatus, reference, paymentMethod, paymentType, created, id } = payment;
    const signed = `${paymentType === 'WITHDRAWAL' ? '-' : ''}${money(payment)}`;
    return [paymentStatus, reference ?? '-', signed, paymentMethod, created.date.slice(0, 19), id];
  });
  const more = total > payments.length ? `\n${total} in all: --limit shows more.` : '';
  return table([HEAD, ...rows]) + more;
}

export function faultsText({ faults }: { faults: Armed[] }) {
  if (faults.length === 0) return 'No fault is armed.';
  return table(faults.map(fault => [String(fault.id), sentenceOf(fault)]));
}

export function paymentText({ payment, request, callbackUrl, postedTo, timeline }: ShownPayment) {
  const { id, reference, paymentStatus, errorMessage, paymentType, paymentMethod } = payment;
  const { amount } = request as Pick<PaymentRecord, 'amount'>;
  const facts = [
    ['id', id],
    ['reference', reference ?? '-'],
    ['state', [paymentStatus, errorMessage].filter(Boolean).join(': ')],
    ['asked for', `${paymentType} by ${paymentMethod}, ${money({ ...payment, amount })}`],
    amount !== payment.amount && ['amount', money(payment)],
    ['callbacks to', postedTo ?? callbackUrl],
    postedTo !== undefined && ['instead of', callbackUrl],
  ].filter(fact => fact !== false);
  return [table(facts), ...timeline.map(timedLineOf)].filter(Boolean).join('\n');
}

export function playedText({ payment, deliveries, problems, note }: Played) {
  const wrong = problems.map(problem => `Not as expected: ${printable(problem)}`);
  const posted = note ? [] : deliveries.map(callbackLine);
  return [paymentLine(payment), ...posted, ...wrong, note].filter(Boolean).join('\n');
}

const COLOURS = { passed: good, failed: bad, unchecked: dim };

export function reportText(report: Report) {
  const width = Math.max(...report.scenarios.map(({ name }) => name.length));
  const lines = report.scenarios.flatMap(({ name, does, result, problems }) => [
    `  ${COLOURS[result](result.padEnd(9))}  ${name.padEnd(width)}  ${does}`,
    ...problems.map(problem => `             ${printable(problem)}`),
  ]);
  return [...lines, `${COLOURS[report.result](report.result)}: ${summaryOf(report)}`].join('\n');
}
