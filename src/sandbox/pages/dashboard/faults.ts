// The page of faults: the armed ones, and a card for each available fault.
import { html } from 'hono/html';
import type { Armed, FaultOptions, Faults } from '../../faults/faults.ts';
import {
  CALL_FAULTS,
  CALLBACK_FAULTS,
  CREATE_FAULTS,
  FAULTS,
  type Fault,
  isCallbackFault,
  isCreateFault,
  takesMs,
} from '../../faults/kinds.ts';
import { type Html, sent } from '../layout.ts';
import { spanOf } from './time.ts';
import { formOf, type Page, prose, type View } from './view.ts';

const GROUPS: readonly [title: string, text: string, faults: object][] = [
  ['Faults of calls', 'They are injected into the next create or lookup that is in order.', CALL_FAULTS],
  ['Faults of creates', 'They change what the gateway records, or when it calls back.', CREATE_FAULTS],
  ['Faults of callbacks', 'They are injected into the next callback of any payment.', CALLBACK_FAULTS],
];

export function faultsPage({ parts: { faults } }: View): Page {
  const { armed } = faults;
  const main = html`<h1>Faults</h1>
  <p class="lead">What goes wrong in production, on purpose. A fault waits for the call or the callback that it is meant for, is injected, and is then used up.</p>
  <section aria-labelledby="armed-title"><h2 id="armed-title">Armed</h2>
    ${armed.length === 0 && html`<p class="dim">None. Calls and callbacks go as they should.</p>`}
    ${armed.map(
      one => html`<div class="armed" id="armed-${one.id}"><div><p>${armedSentence(one)}</p><p class="small">${prose(FAULTS[one.fault])}</p></div>
      ${formOf('/faults', html`<button class="small" name="disarm" value="${one.id}" id="disarm-${one.id}" aria-label="Disarm ${one.fault}, number ${one.id}">Disarm</button>`)}</div>`,
    )}</section>
  ${GROUPS.map(
    ([title, text, faults]) => html`<section><h2>${title}</h2><p class="dim">${text}</p>
    <div class="cards">${Object.entries(faults).map(([name, does]) => card(name as Fault, does))}</div></section>`,
  )}`;
  return { title: armed.length === 0 ? 'Faults' : `Faults (${armed.length} armed)`, main };
}

const THINGS = { create: ['create', 'creates'], lookup: ['lookup', 'lookups'], callback: ['callback', 'callbacks'] };

/** Describes the calls or callbacks that get the fault. */
export function armedSentence({ fault, on, ms, count, probability, reference }: Armed): Html {
  const [one, many] = THINGS[on];
  const which = count === 1 ? `The next ${one}` : `The next ${count} ${many}`;
  const whose = reference !== undefined && html` with reference ${sent(reference)}`;
  const length = ms !== undefined && `, of ${spanOf(ms)}`;
  const chance = probability !== undefined && `, with probability ${probability} each time`;
  return html`${which}${whose} ${count === 1 ? 'meets' : 'meet'} <code>${fault}</code>${length}${chance}.`;
}

function card(fault: Fault, does: string): Html {
  const input = (name: string, label: string, attributes: Html) =>
    html`<div class="field"><label for="${fault}-${name}">${label}</label><input id="${fault}-${name}" name="${name}" autocomplete="off" ${attributes}></div>`;
  const hasOperation = !isCallbackFault(fault) && !isCreateFault(fault);
  const content = html`<input type="hidden" name="fault" value="${fault}">
    <h3><code>${fault}</code> <button class="small" id="arm-${fault}" aria-label="Arm ${fault}">Arm</button></h3>
    <p>${prose(does)}</p>
    <details id="options-${fault}"><summary>Options<span class="unseen"> of ${fault}</span></summary><div class="pair">
      ${hasOperation && html`<div class="field"><label for="${fault}-on">Injected into</label><select id="${fault}-on" name="on"><option value="create">a create</option><option value="lookup">a lookup</option></select></div>`}
      ${takesMs(fault) && input('ms', 'Milliseconds', html`type="number" min="0" placeholder="${fault === 'slow' ? 35_000 : 5_000}"`)}
      ${input('count', 'How often', html`type="number" min="1" placeholder="1"`)}
      ${input('probability', 'Probability, 0 to 1', html`type="number" min="0" max="1" step="any" placeholder="1"`)}
      ${input('reference', 'Only for the reference', html`placeholder="any"`)}
    </div></details>`;
  return formOf('/faults', content, 'card fault');
}

/** Arms or disarms by a form. Empty fields get their defaults. @returns a description */
export function changeFaults(faults: Faults, form: URLSearchParams): Html | string {
  const disarmed = form.get('disarm');
  if (disarmed !== null) {
    faults.disarm(Number(disarmed));
    return 'The fault is disarmed.';
  }
  if (form.has('clear')) {
    faults.clear();
    return 'Every fault is disarmed.';
  }
  const { fault, ...given } = Object.fromEntries([...form].filter(([, value]) => value));
  const numbers = ['ms', 'count', 'probability'].flatMap(name => (given[name] ? [[name, Number(given[name])]] : []));
  const armed = faults.next(fault as Fault, { ...given, ...Object.fromEntries(numbers) } as FaultOptions);
  return html`<code>${armed.fault}</code> is armed.`;
}
