// The sandbox's clock in each page's head: its time, the controls to move it, and the reset.
import { html } from 'hono/html';
import type { Html } from '../layout.ts';
import { spanOf } from './time.ts';
import { formOf, type View } from './view.ts';

const STEPS = { '1 min': 60_000, '1 h': 3_600_000, '1 day': 86_400_000 };

/** The clock menu. With a custom time source, as in tests, the time changes only on refresh. */
export function clockMenu(view: View): Html {
  const { now, parts } = view;
  const { offset } = parts.clock;
  const iso = new Date(now).toISOString();
  const isTicking = parts.settings.now === Date.now;
  return html`<details class="menu clock" name="menu" id="clock-menu">
  <summary><span class="label">Sandbox clock, UTC</span> <time id="clock" datetime="${iso}" data-ms="${now}" ${isTicking ? 'data-ticks' : ''}>${iso.slice(11, 19)}</time>${offset === 0 ? '' : html` <b class="offset">${movedBy(offset)}</b>`}</summary>
  <div class="panel">
    <p>${iso.slice(0, 10)}. ${offset === 0 ? 'It goes with the clock of this machine.' : `It is ${spanOf(Math.abs(offset))} ${offset > 0 ? 'ahead of' : 'behind'} this machine.`} Every time on these pages is of this clock.</p>
    ${formOf(
      view,
      '/clock',
      html`${Object.entries(STEPS).map(
        ([name, ms]) => html`<button name="advance" value="${ms}" id="advance-${ms}">Advance by ${name}</button>`,
      )}${offset === 0 ? '' : html`<button name="right" value="yes" id="set-right">Set it right</button>`}`,
      'choices',
    )}
    <p class="dim">Delayed callbacks and repetitions that wait for that time are posted.</p>
    <details class="danger" id="reset-menu"><summary>Reset the sandbox</summary>
      <p>Forget every payment, call, callback and armed fault, and set the clock right?</p>
      ${formOf(view, '/reset', html`<button class="bad" id="reset">Yes, forget everything</button>`)}
    </details>
  </div>
</details>`;
}

const movedBy = (offset: number): string => `${offset > 0 ? '+' : '−'}${spanOf(Math.abs(offset))}`;
