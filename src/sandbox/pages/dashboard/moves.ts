// The menu of moves, with the name, target and action of each.
import { html } from 'hono/html';
import { isFinalStatus } from '../../../schemas/methods.ts';
import { errorMessageOf } from '../../ledger/ledger.ts';
import type { MoveName } from '../../ledger/moves.ts';
import type { FailureReason, PaymentRecord } from '../../ledger/record.ts';
import { DECLINES } from '../customer/declines.ts';
import { type Html, nameOf } from '../layout.ts';
import { formOf, sent, type View } from './view.ts';

interface Choice {
  label: string;
  move: MoveName;
  reason?: FailureReason;
}

/** The moves by the value of their button. */
const CHOICES: Readonly<Record<string, Choice>> = {
  complete: { label: 'Complete', move: 'complete' },
  authorize: { label: 'Authorise', move: 'authorize' },
  cancel: { label: 'Cancel', move: 'cancel' },
  ...Object.fromEntries(
    Object.entries(DECLINES).map(([name, { reason }]) => [
      `fail-${name}`,
      { label: `Fail: ${errorMessageOf(reason).errorMessage}`, move: 'fail', reason } satisfies Choice,
    ]),
  ),
  fail: { label: 'Fail without a reason', move: 'fail' },
};

/** Returns the choice of a form, with a reason in the user's own words. */
export function choiceOf(form: URLSearchParams): Choice | undefined {
  const name = form.get('move') ?? '';
  const choice = Object.hasOwn(CHOICES, name) ? CHOICES[name] : undefined;
  const reason = name === 'fail' && form.get('reason');
  return choice && reason ? { ...choice, reason: { reason } } : choice;
}

const buttons = (id: string): Html =>
  html`${Object.entries(CHOICES).map(
    ([name, { label }]) => html`<button id="${name}-${id}" name="move" value="${name}">${label}</button>`,
  )}`;

/** Forces every move of a final payment, and explains that in the menu. */
const byForce = ({ paymentStatus }: PaymentRecord): Html | string =>
  isFinalStatus(paymentStatus)
    ? html`<input type="hidden" name="force" value="yes"><p class="force">${paymentStatus} is final: the gateway makes no more moves. These go by force, to see what your app does.</p>`
    : '';

/** The menu next to a payment in a list. */
export const moveMenu = (
  view: View,
  record: PaymentRecord,
): Html => html`<details class="menu" name="menu" id="menu-${record.id}">
  <summary aria-label="Move ${nameOf(record)}" title="Move">Move</summary>
  ${formOf(view, `/payments/${record.id}`, html`${byForce(record)}${buttons(record.id)}`, 'panel')}
</details>`;

/** The whole menu, on the payment's own page. */
export const movePanel = (view: View, record: PaymentRecord): Html => html`
  ${formOf(view, `/payments/${record.id}`, html`${byForce(record)}<div class="moves">${buttons(record.id)}</div>`)}
  ${formOf(
    view,
    `/payments/${record.id}`,
    html`${isFinalStatus(record.paymentStatus) ? html`<input type="hidden" name="force" value="yes">` : ''}
      <div class="field grow"><label for="reason">Fail for a reason in your own words</label>
      <input id="reason" name="reason" required maxlength="1000" autocomplete="off"></div>
      <button name="move" value="fail" id="fail-own">Fail</button>`,
    'fields',
  )}`;

/** Describes a finished move. */
export function moveNotice(done: string, record: PaymentRecord): Html {
  const { paymentStatus, errorMessage } = record;
  const name = sent(nameOf(record));
  if (done === 'moved')
    return html`${name} is now ${paymentStatus}${errorMessage ? html` (${sent(errorMessage)})` : ''}, and its callback goes out.`;
  if (done === 'reworded')
    return html`${name} stays ${paymentStatus}; only its reason has changed. A callback is posted only when the state changes: there was none.`;
  return html`Nothing changed: ${name} was ${paymentStatus} already, and no callback was posted.`;
}
