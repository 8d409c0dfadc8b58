// The page for newcomers: three working ways to a first payment.
import { html } from 'hono/html';
import { signBody } from '../../../payments/sign.ts';
import { curlOf } from '../../api/curl.ts';
import { environmentOf } from '../../environment.ts';
import type { SandboxSettings } from '../../sandbox-options.ts';
import type { Html } from '../layout.ts';
import { storyForm, USUAL_ADDRESS } from './stories.ts';
import { rawText, type View } from './view.ts';

export const firstSteps = (view: View): Html => html`<section class="card first" aria-labelledby="first-title">
  <h2 id="first-title">No payment yet. Make the first one:</h2>
  <ol>
    <li><h3>Play a story</h3>
      <p>A payment is created, paid and called back, here and now. Nothing has to be set up. To have your app called back, say where it listens.</p>
      ${storyForm(view)}</li>
    <li><h3>Create one with curl</h3>
      <p>As it stands: with the key of this sandbox, and signed.</p>
      ${rawText('first-curl', 'Create with curl', firstCreate(view.parts.settings, view.url.origin))}</li>
    <li><h3>Connect your app</h3>
      <p>Paste this into its <code>.env</code>.</p>
      ${environment(view)}</li>
  </ol>
</section>`;

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
