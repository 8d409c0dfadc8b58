// Pix and the Thai QR wallet: a code to scan with the banking app, or to copy.
import { html } from 'hono/html';
import { encode } from 'uqr';
import type { PaymentRecord } from '../../ledger/record.ts';
import { money, plainAmount } from '../../money.ts';
import { type Html, methodName } from '../layout.ts';
import { copyRows, digitsOf, type Face, formOf, mainButton, methodOf } from './view.ts';

/** Returns a field of an EMV payload: its number, its length, its text. */
const emv = (number: string, text: string): string => `${number}${String(text.length).padStart(2, '0')}${text}`;

/** An EMV amount has at most thirteen characters. The customer types a longer one. */
const TOO_LARGE = 1e10;

interface Scheme {
  account(id: string): string;
  /** The codes of ISO 4217 and ISO 3166. */
  currency: string;
  country: string;
}

const SCHEMES: Readonly<Record<string, Scheme>> = {
  PIX: {
    account: id => emv('26', emv('00', 'BR.GOV.BCB.PIX') + emv('01', id.toUpperCase())),
    currency: '986',
    country: 'BR',
  },
  QRTHWALLET: {
    account: id => emv('29', emv('00', 'A000000677010111') + emv('03', `00${digitsOf(id, 13)}`)),
    currency: '764',
    country: 'TH',
  },
};

/** Returns the text for the customer's app, after EMV's rules for merchant codes. */
function payloadOf(scheme: Scheme, { id, amount }: PaymentRecord): string {
  const fields = [
    emv('00', '01'),
    scheme.account(id),
    emv('52', '0000'),
    emv('53', scheme.currency),
    amount < TOO_LARGE ? emv('54', amount.toFixed(2)) : '',
    emv('58', scheme.country),
    emv('59', 'SANDBOX'),
    emv('60', 'TEST'),
    emv('62', emv('05', id.slice(0, 8).toUpperCase())),
    '6304',
  ].join('');
  return `${fields}${crc16(fields)}`;
}

/** Computes CRC-16/CCITT-FALSE, the end of an EMV payload. */
function crc16(text: string): string {
  let crc = 0xffff;
  for (const letter of text) {
    crc ^= letter.charCodeAt(0) << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

function picture(text: string): Html {
  const code = encode(text, { ecc: 'L', border: 0 }).data.map(row => row.map(Number).join(''));
  const bars = code.flatMap((row, y) =>
    [...row.matchAll(/1+/g)].map(({ 0: { length }, index }) => `M${index + 4} ${y + 4}h${length}v1h-${length}z`),
  );
  const size = code.length + 8;
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code of the payment"><path d="${bars.join('')}"/></svg>`;
}

export const qr: Face = {
  draw(view) {
    const method = methodOf(view);
    const payload = payloadOf((SCHEMES[method] ?? SCHEMES.PIX) as Scheme, view.record);
    return {
      body: html`<h2>${methodName(method)}</h2>
      <p>Scan the code with your banking app, or copy it there.</p>
      ${picture(payload)}
      ${copyRows([
        ['Amount', money(view.record), plainAmount(view.record)],
        ['Code', payload],
      ])}
      ${formOf(view, mainButton("I've paid in my app"))}`,
    };
  },
};
