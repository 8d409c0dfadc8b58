// The moves of a payment: their buttons, and the form that makes one.
import { html } from 'hono/html';
import { isFinalStatus } from '../../../schemas/methods.ts';
import { errorMessageOf } from '../../ledger/ledger.ts';
import { MOVES, type MoveName } from '../../ledger/moves.ts';
import type { FailureReason, PaymentRecord } from '../../ledger/record.ts';
import { money } from '../../money.ts';
import type { Parts } from '../../parts.ts';
import { SandboxError } from '../../sandbox-error.ts';
import { ENDS } from '../customer/ends.ts';
import { type Html, nameOf, sent } from '../layout.ts';
import { formOf } from './view.ts';

interface Choice {
  label: string;
  move: MoveName;
  reason?: FailureReason;
}

const FAILURES: Record<string, Choice> = {};
for (const [name, end] of Object.entries(ENDS)) {
  if (!('reason' in end)) continue;
  const { reason } = end;
  FAILURES[`fail-${name}`] = { label: `Fail: ${errorMessageOf(reason).errorMessage}`, move: 'fail', reason };
}

/** The moves by the value of their button. */
const CHOICES: Readonly<Record<string, Choice>> = {
  complete: { label: 'Complete', move: 'complete' },
  authorize: { label: 'Authorise', move: 'authorize' },
  cancel: { label: 'Cancel', move: 'cancel' },
  ...FAILURES,
  fail: { label: 'Fail without a reason', move: 'fail' },
};

/** The buttons of every move. Out of a final state they go by force, and explain that. */
export const moveForm = ({ id, paymentStatus }: PaymentRecord, className: string): Html =>
  formOf(
    `/payments/${id}`,
    html`${isFinalStatus(paymentStatus) && html`<input type="hidden" name="force" value="yes"><p class="force">${paymentStatus} is final: the gateway makes no more moves. These go by force, to see what your app does.</p>`}
    ${Object.entries(CHOICES).map(([name, { label }]) => html`<button id="${name}-${id}" name="move" value="${name}">${label}</button>`)}`,
    className,
  );

/** The forms for another amount, and for a reason in the user's own words. */
export const ownForms = (record: PaymentRecord): Html =>
  html`${ownForm(
    record,
    'complete',
    html`<label for="amount">Complete with another amount</label>
  <input id="amount" name="amount" type="number" min="0" step="any" required autocomplete="off">`,
  )}${ownForm(
    record,
    'fail',
    html`<label for="reason">Fail for a reason in your own words</label>
  <input id="reason" name="reason" required maxlength="1000" autocomplete="off">`,
  )}`;

const ownForm = ({ id, paymentStatus }: PaymentRecord, move: 'complete' | 'fail', field: Html): Html =>
  formOf(
    `/payments/${id}`,
    html`${isFinalStatus(paymentStatus) && html`<input type="hidden" name="force" value="yes">`}
    <div class="field grow">${field}</div>
    <button name="move" value="${move}" id="${move}-own">${CHOICES[move]?.label.split(' ')[0]}</button>`,
    'row',
  );

/** Makes the move of a form. @returns a description */
export function makeMove({ ledger, move }: Parts, id: string, form: URLSearchParams): Html {
  const name = form.get('move') ?? '';
  const choice = Object.hasOwn(CHOICES, name) ? CHOICES[name] : undefined;
  if (!choice) throw new SandboxError('refused', 'There is no such move: complete, authorize, cancel, fail.');
  const before = ledger.get(id);
  const [reason, amount] = [form.get('reason'), form.get('amount')];
  const isForced = form.has('force');
  const payment = sent(nameOf(before));
  const unchanged = html`Nothing changed: ${payment} was ${before.paymentStatus} already, and no callback was posted.`;
  if (!isForced && isFinalStatus(before.paymentStatus)) {
    if (before.paymentStatus === MOVES[choice.move]) return unchanged;
    throw new SandboxError(
      'final_state',
      `Nothing changed: ${nameOf(before)} is ${before.paymentStatus} by now, which is final. Its menu now has the moves by force.`,
    );
  }
  const record = move(id, choice.move, {
    ...(reason ? { reason } : choice.reason),
    ...(amount && { amount: Number(amount) }),
    force: isForced,
  });
  const { paymentStatus, errorMessage } = record;
  if (paymentStatus !== before.paymentStatus)
    return html`${payment} is now ${paymentStatus}${amount && ` with ${money(record)}`}${errorMessage && html` (${sent(errorMessage)})`}, and its callback goes out.`;
  if (errorMessage === before.errorMessage) return unchanged;
  return html`${payment} stays ${paymentStatus}; only its reason has changed. A callback is posted only when the state changes: there was none.`;
}
