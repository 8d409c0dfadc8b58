// The forms of the dashboard: they act like the sandbox's own API, then return to their page.
import type { Fault, SandboxOperation } from '../../faults/kinds.ts';
import { MOVES } from '../../ledger/moves.ts';
import type { Parts } from '../../parts.ts';
import { SandboxError } from '../../sandbox-error.ts';
import type { AddForm, Form } from '../forms.ts';
import { nameOf } from '../layout.ts';
import { pretty } from './bytes.ts';
import { choiceOf } from './moves.ts';
import { playStory } from './stories.ts';

export function addForms(addForm: AddForm, parts: Parts): void {
  const { ledger, callbacks, log, faults, clock } = parts;

  addForm('/payments/:id', (form, id) => {
    const choice = choiceOf(form);
    if (!choice) throw new SandboxError('refused', 'There is no such move: complete, authorize, cancel, fail.');
    const before = ledger.get(id);
    const back = (done: string) => backTo(form, `/payments/${before.id}`, done, before.id);
    try {
      const after = parts.move(id, choice.move, { ...choice.reason, force: form.has('force') });
      if (after.paymentStatus !== before.paymentStatus) return back('moved');
      return back(after.errorMessage === before.errorMessage ? 'unchanged' : 'reworded');
    } catch (error) {
      if (!(error instanceof SandboxError) || error.code !== 'final_state') throw error;
      if (before.paymentStatus === MOVES[choice.move]) return back('unchanged');
      const words = `Nothing changed: ${nameOf(before)} is ${before.paymentStatus} by now, which is final. Its menu now has the moves by force.`;
      throw new SandboxError('final_state', words);
    }
  });

  addForm('/deliveries/:id', async (form, id) => {
    const body = form.get('body')?.replaceAll('\r\n', '\n');
    // The editor's layout has other bytes, but the same content.
    const isAsItWas = body === undefined || body === pretty(log.delivery(Number(id)).body);
    const again = await callbacks.redeliver(Number(id), isAsItWas ? {} : { body });
    return backTo(form, `/deliveries/${again.id}`, 'redelivered', again.id);
  });

  addForm('/faults', form => {
    const disarmed = form.get('disarm');
    if (form.has('clear')) faults.clear();
    else if (disarmed !== null) faults.disarm(Number(disarmed));
    else return backTo(form, '/faults', 'armed', faults.next(form.get('fault') as Fault, optionsOf(form)).id);
    return backTo(form, '/faults', disarmed === null ? 'cleared' : 'disarmed');
  });

  addForm('/clock', form => {
    const [advance, at] = [form.get('advance'), form.get('at')];
    if (advance !== null) clock.advance(Number(advance));
    else clock.set(at === null ? clock.now() - clock.offset : Number(at));
    return backTo(form, '/', 'clock');
  });

  addForm('/stories', async (form, _, origin) => {
    const id = await playStory(parts, form, origin);
    return backTo(form, '/', 'played', id);
  });

  addForm('/reset', () => {
    parts.reset();
    return '/?done=reset';
  });
}

/** Empty fields get their defaults. */
function optionsOf(form: Form) {
  const given = (name: string) => form.get(name) || undefined;
  const number = (name: string) => (given(name) === undefined ? undefined : Number(given(name)));
  return {
    on: given('on') as SandboxOperation | undefined,
    ms: number('ms'),
    count: number('count'),
    probability: number('probability'),
    reference: given('reference'),
  };
}

/** Returns to the form's page with a notice, but never to another site. */
function backTo(form: Form, otherwise: string, done: string, of?: string | number): string {
  const base = 'http://sandbox.invalid';
  const given = form.get('back') ?? otherwise;
  const url = URL.canParse(given, base) ? new URL(given, base) : new URL(otherwise, base);
  const page = url.origin === base ? url : new URL(otherwise, base);
  page.searchParams.set('done', done);
  if (of !== undefined) page.searchParams.set('of', String(of));
  return page.pathname + page.search;
}
