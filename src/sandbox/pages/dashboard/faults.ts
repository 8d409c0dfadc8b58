// The page of faults: the armed ones, and one form that arms any of them.
import { html } from 'hono/html';
import { type FaultOptions, type Faults, sentenceOf } from '../../faults/faults.ts';
import { CALL_FAULTS, CALLBACK_FAULTS, CREATE_FAULTS, FAULTS, type Fault } from '../../faults/kinds.ts';
import type { Html } from '../layout.ts';
import { cards, formOf, type Page, prose, type View } from './view.ts';

const GROUPS: readonly [title: string, faults: object][] = [
  ['Faults of the next call', CALL_FAULTS],
  ['Faults of the next create: of its record, or its callback', CREATE_FAULTS],
  ['Faults of the next callback', CALLBACK_FAULTS],
];

export function faultsPage({ parts: { faults } }: View): Page {
  const { armed } = faults;
  const input = (name: string, label: string, attributes: Html) =>
    html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" autocomplete="off" ${attributes}></div>`;
  // The disabled button takes the Enter key, which would arm the first fault.
  const form = html`<button disabled hidden></button>
    <p class="lead">What goes wrong in production, on purpose. A fault waits for the call or the callback that it is meant for, is injected, and is then used up.</p>
    <div class="card row">
      ${input('count', 'How often', html`type="number" min="1" placeholder="1"`)}
      ${input('reference', 'Only for the reference', html`placeholder="any"`)}
      <div class="field"><label for="on">Faults of calls hit</label><select id="on" name="on"><option value="">a create</option><option value="lookup">a lookup</option></select></div>
      ${input('ms', 'Time of slow, callback-delay', html`placeholder="35s, 5s"`)}
      ${input('probability', 'Probability', html`type="number" min="0" max="1" step="any" placeholder="1"`)}
    </div>
    ${cards(
      GROUPS.map(([title, faults]) => [
        title,
        html`<ul class="lines">${Object.entries(faults).map(
          ([name, does]) =>
            html`<li><button class="small" name="fault" value="${name}" aria-label="Arm ${name}">Arm</button><span class="what"><code>${name}</code> ${prose(does)}</span></li>`,
        )}</ul>`,
      ]),
    )}`;
  const main = html`<h1>Faults</h1>
  <section aria-labelledby="armed-title"><h2 id="armed-title" class="unseen">Armed</h2>${armed.map(
    one => html`<div class="armed" id="armed-${one.id}"><div><p>${prose(sentenceOf(one))}</p><p class="small">${prose(FAULTS[one.fault])}</p></div>
      ${formOf('/faults', html`<button class="small" name="disarm" value="${one.id}" id="disarm-${one.id}" aria-label="Disarm ${one.fault}, number ${one.id}">Disarm</button>`)}</div>`,
  )}</section>
  ${formOf('/faults', form, 'faults')}`;
  return { title: armed.length === 0 ? 'Faults' : `Faults (${armed.length} armed)`, main };
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
  const numbers = ['count', 'probability'].flatMap(name => (given[name] ? [[name, Number(given[name])]] : []));
  const armed = faults.next(fault as Fault, { ...given, ...Object.fromEntries(numbers) } as FaultOptions);
  return html`<code>${armed.fault}</code> is armed.`;
}
