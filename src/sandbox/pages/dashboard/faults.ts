// The page of faults: one form arms any of them.
import { html } from 'hono/html';
import { CALL_FAULTS, CALLBACK_FAULTS, CREATE_FAULTS } from '../../faults/kinds.ts';
import { input, select } from '../layout.ts';
import { callForm, cards, prose, type View } from './view.ts';

const listOf = (faults: Record<string, string>) =>
  html`<ul>${Object.entries(faults).map(
    ([name, does]) =>
      html`<li><button name="fault" value="${name}" aria-label="Arm ${name}">Arm</button><span><code>${name}</code> ${prose(does)}</span></li>`,
  )}</ul>`;

export function faultsPage({ faults: { armed } }: View) {
  // The disabled button takes the Enter key, which would arm the first fault.
  const form = html`<button disabled hidden></button>
    <p class="lead">What goes wrong in production, on purpose. A fault waits for the call or the callback that it is meant for, is injected, and is then used up.</p>
    <div class="card row">
      ${input('count', 'How often', { type: 'number', min: 1, placeholder: '1' })}
      ${input('reference', 'Only for the reference', { placeholder: 'any' })}
      ${select('on', 'Faults of calls hit', [
        ['', 'a create'],
        ['lookup', 'a lookup'],
      ])}
      ${input('ms', 'Time of slow, callback-delay', { placeholder: '35s, 5s' })}
      ${input('probability', 'Probability', { type: 'number', min: 0, max: 1, step: 'any', placeholder: '1' })}
    </div>
    ${cards({
      'Faults of the next call': listOf(CALL_FAULTS),
      'Faults of the next create: of its record, or its callback': listOf(CREATE_FAULTS),
      'Faults of the next callback': listOf(CALLBACK_FAULTS),
    })}`;
  const main = html`<h1>Faults</h1>${callForm('POST /faults', form)}`;
  return { title: armed.length === 0 ? 'Faults' : `Faults (${armed.length} armed)`, main };
}
