// The menu of moves, with the name, target and action of each.
import { html } from 'hono/html';
import { isFinalStatus, type PaymentStatus } from '../../../schemas/methods.ts';
import { errorMessageOf } from '../../ledger/ledger.ts';
import type { MoveOptions, Moves } from '../../ledger/moves.ts';
import type { FailureReason, PaymentRecord } from '../../ledger/record.ts';
import { DECLINES } from '../customer/declines.ts';
import { type Html, nameOf } from '../layout.ts';
import { formOf, sent, type View } from './view.ts';

interface Move {
  label: string;
  to: PaymentStatus;
  run(moves: Moves, id: string, options: MoveOptions): PaymentRecord;
}

const failing = (label: string, reason: FailureReason): Move => ({
  label,
  to: 'FAILED',
  run: (moves, id, options) => moves.fail(id, { ...reason, ...options }),
});

/** The moves by the value of their button. */
const MOVES: Readonly<Record<string, Move>> = {
  complete: { label: 'Complete', to: 'COMPLETED', run: (moves, id, options) => moves.complete(id, options) },
  authorize: { label: 'Authorise', to: 'AUTHORIZED', run: (moves, id, options) => moves.authorize(id, options) },
  cancel: { label: 'Cancel', to: 'CANCELED', run: (moves, id, options) => moves.cancel(id, options) },
  ...Object.fromEntries(
    Object.entries(DECLINES).map(([name, { reason }]) => [
      `fail-${name}`,
      failing(`Fail: ${errorMessageOf(reason).errorMessage}`, reason),
    ]),
  ),
  fail: failing('Fail without a reason', {}),
};

/** Returns the move of a form. A free-text reason wins over the others. */
export function moveOf(form: URLSearchParams): Move | undefined {
  const name = form.get('move') ?? '';
  const reason = form.get('reason') ?? '';
  if (name === 'fail' && reason !== '') return failing(`Fail: ${reason}`, { reason });
  return Object.hasOwn(MOVES, name) ? MOVES[name] : undefined;
}

const buttons = (id: string): Html =>
  html`${Object.entries(MOVES).map(
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
