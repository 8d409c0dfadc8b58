// The instructions of payments that the customer makes elsewhere: rows to copy, or a code to scan.
import { html } from 'hono/html';
import type { PaymentRecord } from '../../ledger/record.ts';
import { transferOf as payIdOf } from '../../ledger/transfer.ts';
import { currencyCode, money, plainAmount } from '../../money.ts';
import { millisecondsOf } from '../../php.ts';
import type { Html } from '../layout.ts';

type Row = readonly [label: string, shown: string, copied?: string];

export interface Details {
  text: string;
  rows: readonly Row[];
  /** The text of a QR code. */
  code?: string;
  advice?: Html | string;
  button: string;
}

const amountOf = (record: PaymentRecord): Row => ['Amount', money(record), plainAmount(record)];

/** Returns digits that are the same for a payment in every run. */
const digitsOf = (id: string, count: number): string =>
  String(BigInt(`0x${id.replaceAll('-', '')}`) % 10n ** BigInt(count)).padStart(count, '0');

/** A transfer to an account that the rows name. */
export const transferOf =
  (account: (record: PaymentRecord, digits: (count: number) => string) => readonly Row[]) =>
  (record: PaymentRecord): Details => ({
    text: 'Send one transfer from your banking app with exactly these details.',
    rows: [
      ...account(record, count => digitsOf(record.id, count)),
      amountOf(record),
      ['Reference code', record.id.slice(0, 8).toUpperCase()],
    ],
    advice: 'Without the reference code the shop cannot tell that the money is yours.',
    button: "I've sent the transfer",
  });

/** The same details as in the answer to a create. */
export const payId = transferOf(record => {
  const { number, full_holder_name } = payIdOf(record);
  return [
    ['PayID', number],
    ['Account holder', full_holder_name],
  ];
});

export function scan(record: PaymentRecord): Details {
  const code = `sandbox:${record.id}?amount=${plainAmount(record)}&currency=${currencyCode(record.currency)}`;
  const text = 'Scan the code with your banking app, or copy it there.';
  return { text, code, rows: [amountOf(record), ['Code', code]], button: "I've paid in my app" };
}

const MULTIBANCO_MS = 3 * 86_400_000;

export function multibanco(record: PaymentRecord): Details {
  const reference = digitsOf(record.id, 9);
  const deadline = new Date(millisecondsOf(record.created) + MULTIBANCO_MS);
  const shown = deadline.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return {
    text: 'Pay with these details at any cash machine, or in the app of your bank.',
    // The sandbox's own entity, which belongs to no company.
    rows: [['Entity', '99999'], ['Reference', reference.replace(/(\d{3})(?=\d)/g, '$1 '), reference], amountOf(record)],
    advice: html`Pay before <time datetime="${deadline.toISOString()}">${shown} UTC</time>`,
    button: "I've paid at a cash machine",
  };
}
