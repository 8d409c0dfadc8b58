// The page of faults: the armed ones, and a card for each available fault.
import { html } from 'hono/html';
import type { Armed } from '../../faults/faults.ts';
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
import type { Html } from '../layout.ts';
import { spanOf } from './time.ts';
import { formOf, prose, sent, type View } from './view.ts';

const GROUPS: readonly [title: string, text: string, faults: object][] = [
  ['Faults of calls', 'They are injected into the next create or lookup that is in order.', CALL_FAULTS],
  ['Faults of creates', 'They change what the gateway records, or when it calls back.', CREATE_FAULTS],
  ['Faults of callbacks', 'They are injected into the next callback of any payment.', CALLBACK_FAULTS],
];

export const faultsPage = (view: View): Html => html`
  <h1>Faults</h1>
  <p class="lead">What goes wrong in production, on purpose. A fault waits for the call or the callback that it is meant for, is injected, and is then used up.</p>
  <section id="armed" aria-labelledby="armed-title"><h2 id="armed-title">Armed</h2>${armedList(view)}</section>
  ${GROUPS.map(
    ([title, text, faults]) => html`<section><h2>${title}</h2><p class="dim">${text}</p>
    <div class="cards">${Object.entries(faults).map(([name, does]) => card(view, name as Fault, does))}</div></section>`,
  )}`;

function armedList(view: View): Html {
  const { armed } = view.parts.faults;
  if (armed.length === 0) return html`<p class="dim">None. Calls and callbacks go as they should.</p>`;
  return html`<ul class="armedList">${armed.map(
    one => html`<li id="armed-${one.id}">
      <div><code class="name">${one.fault}</code><p>${armedSentence(one)}</p><p class="dim">${prose(FAULTS[one.fault])}</p></div>
      ${formOf(view, '/faults', html`<button class="small" name="disarm" value="${one.id}" id="disarm-${one.id}" aria-label="Disarm ${one.fault}, number ${one.id}">Disarm</button>`)}
    </li>`,
  )}</ul>`;
}

const THINGS = { create: ['create', 'creates'], lookup: ['lookup', 'lookups'], callback: ['callback', 'callbacks'] };

/** Describes the calls or callbacks that get the fault. */
export function armedSentence({ fault, on, ms, count, probability, reference }: Armed): Html {
  const [one, many] = THINGS[on];
  const which = count === 1 ? `The next ${one}` : `The next ${count} ${many}`;
  const whose = reference === undefined ? '' : html` with reference ${sent(reference)}`;
  const length = ms === undefined ? '' : `, of ${spanOf(ms)}`;
  const chance = probability === undefined ? '' : `, with probability ${probability} each time`;
  return html`${which}${whose} ${count === 1 ? 'meets' : 'meet'} <code>${fault}</code>${length}${chance}.`;
}

function card(view: View, fault: Fault, does: string): Html {
  const number = (name: string, label: string, attributes: Html, hint = '') =>
    html`<div class="field"><label for="${fault}-${name}">${label}</label><input type="number" id="${fault}-${name}" name="${name}" placeholder="${hint}" ${attributes}></div>`;
  const content = html`<input type="hidden" name="fault" value="${fault}">
    <div class="cardHead"><h3><code>${fault}</code></h3><button class="small" id="arm-${fault}" aria-label="Arm ${fault}">Arm</button></div>
    <p>${prose(does)}</p>
    <details id="options-${fault}"><summary>Options<span class="unseen"> of ${fault}</span></summary><div class="options">
      ${
        isCallbackFault(fault) || isCreateFault(fault)
          ? ''
          : html`<div class="field"><label for="${fault}-on">Injected into</label><select id="${fault}-on" name="on"><option value="create">a create</option><option value="lookup">a lookup</option></select></div>`
      }
      ${takesMs(fault) ? number('ms', 'Milliseconds', html`min="0"`, fault === 'slow' ? '35000' : '5000') : ''}
      ${number('count', 'How often', html`min="1"`, '1')}
      ${number('probability', 'Probability, 0 to 1', html`min="0" max="1" step="any"`, '1')}
      <div class="field wide"><label for="${fault}-reference">Only for the reference</label><input id="${fault}-reference" name="reference" autocomplete="off" placeholder="any"></div>
    </div></details>`;
  return formOf(view, '/faults', content, 'card fault');
}
