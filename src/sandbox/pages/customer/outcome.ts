// Describes the end of a payment in the customer's words.
import { html } from 'hono/html';
import { isOnramp } from '../../ledger/ledger.ts';
import type { PaymentRecord } from '../../ledger/record.ts';
import { type Html, methodName } from '../layout.ts';
import { explain } from './declines.ts';
import { type IconName, icon } from './icons.ts';
import { returnAddressOf } from './return-url.ts';
import { rows, type View } from './view.ts';

interface Outcome {
  tone: 'paid' | 'held' | 'declined' | 'canceled';
  drawn: IconName;
  title: string;
  text: string;
}

/** Returns undefined while the customer can still pay. */
export function outcomeOf({ record, shopName }: { record: PaymentRecord; shopName: string }): Outcome | undefined {
  switch (record.paymentStatus) {
    case 'COMPLETED':
      return {
        tone: 'paid',
        drawn: 'check',
        title: 'Payment complete',
        text: isOnramp(record)
          ? `Thank you. Your ${record.cryptoCurrency} is on its way to the wallet.`
          : `Thank you. ${shopName} has your payment.`,
      };
    case 'AUTHORIZED':
      return {
        tone: 'held',
        drawn: 'clock',
        title: 'Payment approved',
        text: `The amount is reserved. ${shopName} takes it when your order is ready.`,
      };
    case 'FAILED':
      return { tone: 'declined', drawn: 'cross', ...explain(record.errorMessage) };
    case 'CANCELED':
      return {
        tone: 'canceled',
        drawn: 'cross',
        title: 'Payment canceled',
        text: 'This payment was canceled. Nothing was charged.',
      };
    default:
      return undefined;
  }
}

export function drawOutcome(view: View, { tone, drawn, title, text }: Outcome): Html {
  const { record, request } = view;
  const { href, refused } = returnAddressOf(request);
  return html`<section class="outcome ${tone}" aria-labelledby="outcome">
    <span class="seal">${icon(drawn)}</span>
    <h2 id="outcome" tabindex="-1">${title}</h2>
    <p>${text}</p>
    ${rows({
      Reason: record.errorMessage,
      'Paid with': tone === 'paid' || tone === 'held' ? methodName(record.paymentMethod) : undefined,
    })}
    ${href && html`<a class="main" href="${href}">Back to the shop</a>`}
    ${
      refused &&
      html`<p class="advice"><span>The shop's return address is not followed: it is neither a web page nor an app. <code dir="ltr">${refused}</code></span></p>`
    }
  </section>`;
}
