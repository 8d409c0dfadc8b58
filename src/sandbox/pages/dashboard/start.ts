// Three ways to a first payment: a story, a command, and the environment of an app.
import { html } from 'hono/html';
import { signBody } from '../../../payments/sign.ts';
import { curlOf } from '../../api/curl.ts';
import { environmentOf } from '../../environment.ts';
import type { Parts } from '../../parts.ts';
import type { SandboxSettings } from '../../sandbox-options.ts';
import { SCENARIO_NAMES, textOf } from '../../scenarios/library.ts';
import { play, readPlayOptions } from '../../scenarios/play.ts';
import { readScenario } from '../../scenarios/read.ts';
import { type Html, nameOf, sent } from '../layout.ts';
import { cards, formOf, rawText, type View } from './view.ts';

/** A common address of apps under development. */
const USUAL_ADDRESS = 'http://127.0.0.1:3000/callbacks';

/** Plays a scenario. @returns a description */
export async function playStory(parts: Parts, form: URLSearchParams, origin: string): Promise<Html> {
  const name = form.get('name') ?? '';
  const options = readPlayOptions({ to: form.get('to') || undefined });
  const { payment, problems } = await play(parts, await readScenario(textOf(name)), { ...options, name, origin });
  const link = html`<a href="/payments/${payment.id}">${sent(nameOf(payment))}</a>`;
  return html`The story was played: ${link} is ${payment.paymentStatus}. ${problems.map(problem => html` ${sent(problem)}`)}`;
}

export const storyForm = (view: View): Html =>
  formOf(
    '/stories',
    html`<div class="field"><label for="story">Story</label>
      <select id="story" name="name">${SCENARIO_NAMES.map(name => html`<option>${name}</option>`)}</select></div>
    <div class="field grow"><label for="story-to">Callbacks go to</label>
      <input id="story-to" name="to" type="url" placeholder="${USUAL_ADDRESS}" value="${view.parts.settings.forwardTo ?? ''}"></div>
    <button class="primary" id="play">Play</button>`,
    'row',
  );

export const firstSteps = (
  view: View,
): Html => html`<p class="lead">No payment yet. Make the first one in one of three ways.</p>
  ${cards([
    [
      'Play a story',
      html`<p>Creates, pays and calls back a payment. To get its callback, say where your app listens.</p>${storyForm(view)}`,
    ],
    [
      'Create one with curl',
      rawText('first-curl', 'Create with curl', firstCreate(view.parts.settings, view.url.origin)),
    ],
    ['Connect your app', html`<p>Paste this into its <code>.env</code>.</p>${environment(view)}`],
  ])}`;

/** The environment that connects an app to this sandbox. */
export const environment = ({ parts, url }: View): Html =>
  rawText('env', 'Environment of your app', environmentOf(url.origin, parts.settings).join('\n'));

/** Returns a signed create as a command. */
function firstCreate(settings: SandboxSettings, origin: string): string {
  const body = JSON.stringify({
    paymentType: 'DEPOSIT',
    paymentMethod: 'CARD',
    amount: 25.5,
    currency: 'EUR',
    reference: 'first-order',
    webhookUrl: settings.forwardTo ?? USUAL_ADDRESS,
  });
  const headers = [
    ['authorization', `Bearer ${settings.apiKey}`],
    ['signature', signBody(body, settings.signKey, settings.signatureEncoding)],
    ['content-type', 'application/json'],
  ] as const;
  return curlOf({ method: 'POST', url: `${origin}/api/v1/payments`, headers, body: new TextEncoder().encode(body) });
}
