// The test controls: actions on a payment that only a tester has.
import { html } from 'hono/html';
import { isFinalStatus } from '../../../schemas/methods.ts';
import { isOnramp } from '../../ledger/ledger.ts';
import type { Html } from '../layout.ts';
import { DECLINES } from './declines.ts';
import { faceOf } from './faces.ts';
import { formOf, type View } from './view.ts';

export const controls = (view: View): Html => html`<aside class="tester" aria-label="Test controls">
  <details id="controls">
    <summary><b>Test controls</b><span>your customers do not see this</span></summary>
    <div class="tester-body" id="tests">
      ${!isFinalStatus(view.record.paymentStatus) && open(view)}
      <p><a href="/payments/${view.record.id}">This payment on the dashboard</a></p>
    </div>
  </details>
</aside>`;

function open(view: View): Html {
  const { record } = view;
  const face = faceOf(view);
  const isPending = record.paymentStatus === 'PENDING';
  return html`
    ${isPending && face.tests?.(view)}
    <h2>End it here</h2>
    ${formOf(
      view,
      html`<div class="row">
        <button name="act" value="pay">${isPending ? 'Pay at once' : 'Capture: the shop takes the money'}</button>
        ${isPending && face.isAuthorizable && !isOnramp(record) && html`<button name="act" value="authorize">Authorise first</button>`}
        <button name="act" value="expire">Let it expire</button>
        <button name="act" value="abandon">Abandon: leave without paying</button>
      </div>
      <label for="reason">Decline, because</label>
      <div class="row">
        <select id="reason" name="reason">${Object.entries(DECLINES).map(
          ([value, { label }]) => html`<option value="${value}">${label}</option>`,
        )}</select>
        <button name="act" value="decline">Decline</button>
      </div>`,
    )}`;
}
