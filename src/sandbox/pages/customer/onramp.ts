// The on-ramp widget: the customer chooses a method, and sees the crypto amount and wallet before paying.
import { html } from 'hono/html';
import { isOnramp, walletOf } from '../../ledger/ledger.ts';
import { rateOf } from '../../ledger/rates.ts';
import { currencyCode } from '../../money.ts';
import { type Html, methodName } from '../layout.ts';
import { type IconName, icon } from './icons.ts';
import { type Face, formOf, rows, type View } from './view.ts';

interface Offer {
  method: string;
  says: string;
  drawn: IconName;
  /** The accepted currencies. Absent if all are accepted. */
  currencies?: readonly string[];
}

const OFFERS: readonly Offer[] = [
  { method: 'ONRAMP_PIX', says: 'Scan a code, arrives at once', drawn: 'qr', currencies: ['BRL'] },
  { method: 'ONRAMP_PAYID', says: 'Transfer from your bank', drawn: 'transfer', currencies: ['AUD'] },
  { method: 'ONRAMP_ZAR', says: 'Instant, from your bank', drawn: 'bank', currencies: ['ZAR'] },
  { method: 'ONRAMP_PSE', says: 'Instant, from your bank', drawn: 'bank', currencies: ['COP'] },
  { method: 'ONRAMP_KHIPU', says: 'Instant, from your bank', drawn: 'bank', currencies: ['CLP'] },
  { method: 'ONRAMP_QRTHWALLET', says: 'Scan a code, arrives at once', drawn: 'qr', currencies: ['THB'] },
  { method: 'ONRAMP_INTERAC', says: 'E-transfer from your bank', drawn: 'transfer', currencies: ['CAD'] },
  { method: 'ONRAMP_SPEI', says: 'Transfer from your bank', drawn: 'transfer', currencies: ['MXN'] },
  { method: 'ONRAMP_OPENBANKING', says: 'Confirm at your bank, no card', drawn: 'bank', currencies: ['EUR', 'GBP'] },
  { method: 'ONRAMP_GBPBANKTRANSFER', says: 'Transfer from your bank', drawn: 'transfer', currencies: ['GBP'] },
  { method: 'ONRAMP_CARD', says: 'Debit or credit', drawn: 'card' },
  { method: 'ONRAMP_APPLEPAY', says: 'Confirm on your device', drawn: 'phone' },
  { method: 'ONRAMP_GOOGLEPAY', says: 'Confirm on your device', drawn: 'phone' },
];

/** Returns the widget's offers for a currency. */
export const offersOf = (currency: string): readonly Offer[] =>
  OFFERS.filter(({ currencies }) => !currencies || currencies.includes(currency.toUpperCase()));

/** The customer's choice, if the merchant has not fixed the method. */
export const onramp: Face = {
  draw: view => ({
    body: html`<h2>How do you want to pay?</h2>
    ${formOf(
      view,
      html`<ul class="tiles">${offersOf(view.record.currency).map(
        ({ method, says, drawn }) => html`<li><button class="tile" name="method" value="${method}">
          <span class="mark">${icon(drawn)}</span><span><b>${methodName(method)}</b><small>${says}</small></span>${icon('next')}</button></li>`,
      )}</ul>`,
      'get',
    )}`,
  }),
};

/** Draws the customer's crypto amount, before and after the payment. */
export function receipt({ record, request }: View): Html | undefined {
  if (!isOnramp(record) || ['FAILED', 'CANCELED'].includes(record.paymentStatus)) return undefined;
  const { cryptoAmount, cryptoCurrency, settled_crypto_amount, destination_wallet, currency } = record;
  return html`<section class="receipt" aria-labelledby="receipt">
    <h2 id="receipt">${settled_crypto_amount === undefined ? 'You receive' : 'You received'}</h2>
    <p class="crypto"><bdi>${settled_crypto_amount?.toFixed(8) ?? cryptoAmount} ${cryptoCurrency}</bdi></p>
    ${rows({
      Rate: `1 ${cryptoCurrency} = ${record.crypto_fx ?? rateOf(currency)} ${currencyCode(currency)}`,
      Wallet: html`<code dir="ltr">${destination_wallet ?? walletOf(request)}</code>`,
    })}
  </section>`;
}
