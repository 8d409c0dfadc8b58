// Stories to play from the page: a payment that is created, moved and called back.
import { html } from 'hono/html';
import type { Parts } from '../../parts.ts';
import { SandboxError } from '../../sandbox-error.ts';
import { isScenario, play, SCENARIOS } from '../../scenarios.ts';
import type { Html } from '../layout.ts';
import { formOf, type View } from './view.ts';

/** Where an app under development often listens. */
export const USUAL_ADDRESS = 'http://127.0.0.1:3000/callbacks';

/** @returns the id of its payment */
export async function playStory(parts: Parts, form: URLSearchParams, origin: string): Promise<string> {
  const name = form.get('name') ?? '';
  if (!isScenario(name)) throw new SandboxError('unknown_scenario', `No story is called ${JSON.stringify(name)}.`);
  const to = form.get('to') || parts.settings.forwardTo || USUAL_ADDRESS;
  return (await play(parts, name, origin, to)).payment.id;
}

export const storyForm = (view: View): Html =>
  formOf(
    view,
    '/stories',
    html`<div class="field"><label for="story">Story</label>
      <select id="story" name="name">${Object.keys(SCENARIOS).map(name => html`<option>${name}</option>`)}</select></div>
    <div class="field grow"><label for="story-to">Callbacks go to</label>
      <input id="story-to" name="to" type="url" required value="${view.parts.settings.forwardTo ?? USUAL_ADDRESS}"></div>
    <button class="primary" id="play">Play</button>`,
    'fields',
  );
