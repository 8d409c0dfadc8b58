// Plays scenarios from the page: a payment is created, moved and called back.
import { html } from 'hono/html';
import type { Parts } from '../../parts.ts';
import { SCENARIO_NAMES, textOf } from '../../scenarios/library.ts';
import { play, readPlayOptions } from '../../scenarios/play.ts';
import { readScenario } from '../../scenarios/read.ts';
import type { Html } from '../layout.ts';
import { formOf, type View } from './view.ts';

/** A common address of apps under development. */
export const USUAL_ADDRESS = 'http://127.0.0.1:3000/callbacks';

/** @returns the id of its payment */
export async function playStory(parts: Parts, form: URLSearchParams, origin: string): Promise<string> {
  const name = form.get('name') ?? '';
  const options = readPlayOptions({ to: form.get('to') || undefined });
  const { payment } = await play(parts, await readScenario(textOf(name)), { ...options, name, origin });
  return payment.id;
}

export const storyForm = (view: View): Html =>
  formOf(
    view,
    '/stories',
    html`<div class="field"><label for="story">Story</label>
      <select id="story" name="name">${SCENARIO_NAMES.map(name => html`<option>${name}</option>`)}</select></div>
    <div class="field grow"><label for="story-to">Callbacks go to</label>
      <input id="story-to" name="to" type="url" placeholder="${USUAL_ADDRESS}" value="${view.parts.settings.forwardTo ?? ''}"></div>
    <button class="primary" id="play">Play</button>`,
    'fields',
  );
