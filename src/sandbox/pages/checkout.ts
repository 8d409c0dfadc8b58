// The page behind a redirectUrl: a customer pays, declines, authorises or walks away, and returns to the shop.
import { html } from 'hono/html';
import { isFinalStatus, ONRAMP_METHODS } from '../../schemas/methods.ts';
import { type AcceptedRequest, type FailureReason, isOnramp, type PaymentRecord } from '../ledger/ledger.ts';
import type { Moves } from '../ledger/moves.ts';
import { transferOf } from '../ledger/transfer.ts';
import { money } from '../money.ts';
import { badge, facts, type Html, methodName } from './layout.ts';

/** Why a payment is declined, by the value of its option. */
export const DECLINES: Readonly<Record<string, { label: string; reason: FailureReason }>> = {
  'insufficient-balance': { label: 'Insufficient balance', reason: { code: 4004 } },
  cvv: { label: 'CVV error', reason: { code: 4001 } },
  canceled: { label: 'Canceled by the user', reason: { code: 4018 } },
  'not-funded': { label: 'Payment not funded', reason: { reason: 'Payment not funded' } },
};

/** What a customer can do on the page, by the value of its button. */
export const ACTS: Readonly<Record<string, (moves: Moves, id: string, form: URLSearchParams) => unknown>> = {
  pay: (moves, id) => moves.complete(id),
  authorize: (moves, id) => moves.authorize(id),
  decline: (moves, id, form) => moves.fail(id, DECLINES[form.get('reason') ?? '']?.reason),
  abandon: () => {},
};

/** What the widget of `USER_CHOICE` offers. */
export const CHOICES: readonly string[] = ONRAMP_METHODS.filter(method => method !== 'USER_CHOICE');

/** Where the customer goes afterwards: an address of any scheme that the request may have, as a header can carry it. */
export const returnUrlOf = ({ returnUrl }: AcceptedRequest): string | undefined =>
  typeof returnUrl === 'string' ? new URL(returnUrl).href : undefined;

export function checkout(record: PaymentRecord, request: AcceptedRequest): { title: string; main: Html } {
  const title = `Pay ${money(record)}`;
  const body = isFinalStatus(record.paymentStatus) ? outcome(record, request) : offer(record);
  const main = html`<main class="card checkout">
    <p class="merchant">${record.description || 'Payment'}</p>
    <h1 class="amount">${money(record)}</h1>
    ${facts({
      'Merchant reference': record.reference,
      Method: methodName(record.paymentMethod),
      State: badge(record.paymentStatus),
    })}
    ${body}
    <p class="small"><a href="/payments/${record.id}">This payment on the dashboard</a></p>
  </main>`;
  return { title, main };
}

function offer(record: PaymentRecord): Html {
  const { paymentMethod, paymentStatus } = record;
  const isTransfer = paymentMethod === 'PAYID';
  return html`
    ${isTransfer ? transfer(record) : isOnramp(record) && quoted(record)}
    <form method="post" class="stack">
      ${paymentMethod === 'USER_CHOICE' && methods()}
      <button class="primary" name="act" value="pay">${isTransfer ? 'The customer has paid' : `Pay ${money(record)}`}</button>
      ${
        !isTransfer &&
        !isOnramp(record) &&
        paymentStatus === 'PENDING' &&
        html`<button name="act" value="authorize">Authorise first</button>`
      }
      <div class="decline">
        <label for="reason">Decline, because</label>
        <div class="row">
          <select id="reason" name="reason">${Object.entries(DECLINES).map(
            ([value, { label }]) => html`<option value="${value}">${label}</option>`,
          )}</select>
          <button name="act" value="decline">Decline</button>
        </div>
      </div>
      <button class="quiet" name="act" value="abandon">Abandon: leave without paying</button>
    </form>`;
}

/** PayID: the customer sends the money from the own bank. */
function transfer(record: PaymentRecord): Html {
  const { number, full_holder_name, payment_description, amount, currency } = transferOf(record);
  return html`
    <h2>Transfer the money by PayID</h2>
    ${facts({
      PayID: html`<code>${number}</code>`,
      'Account holder': full_holder_name,
      Amount: `${amount} ${currency}`,
      'Reference code': html`<code>${payment_description}</code>`,
    })}`;
}

/** The on-ramp widget: money in, crypto out. */
function quoted({ cryptoAmount, cryptoCurrency, crypto_fx, currency }: PaymentRecord): Html {
  return html`
    <h2>You receive</h2>
    ${facts({
      Amount: `${cryptoAmount ?? ''} ${cryptoCurrency ?? ''}`,
      Rate: crypto_fx === undefined ? undefined : `1 ${cryptoCurrency} = ${crypto_fx} ${currency}`,
    })}`;
}

/** The customer's choice, where the merchant has pinned none. */
const methods = (): Html => html`<fieldset>
  <legend>How do you want to pay?</legend>
  <div class="choices">${CHOICES.map(
    (method, index) =>
      html`<label><input type="radio" name="method" value="${method}" ${index === 0 ? 'checked' : ''}> ${methodName(method)}</label>`,
  )}</div>
</fieldset>`;

const OUTCOMES: Record<string, string> = {
  COMPLETED: 'This payment is paid.',
  FAILED: 'This payment has failed.',
  CANCELED: 'This payment was canceled.',
};

function outcome(record: PaymentRecord, request: AcceptedRequest): Html {
  const { paymentStatus, errorMessage, settled_crypto_amount, cryptoCurrency, destination_wallet } = record;
  const returnUrl = returnUrlOf(request);
  return html`
    <h2>${OUTCOMES[paymentStatus]}</h2>
    ${facts({
      Reason: errorMessage,
      ...(isOnramp(record) && {
        Settled: settled_crypto_amount === undefined ? undefined : `${settled_crypto_amount} ${cryptoCurrency}`,
        Wallet: destination_wallet && html`<code>${destination_wallet}</code>`,
      }),
    })}
    ${returnUrl && html`<p><a class="button" href="${returnUrl}">Back to the shop</a></p>`}`;
}
