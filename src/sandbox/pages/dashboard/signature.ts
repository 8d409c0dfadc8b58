// Shows a signature next to the expected one.
import { html } from 'hono/html';
import type { SignatureCheck } from '../../api/signature.ts';
import type { Html } from '../layout.ts';

/** @param isSaid whether the page already shows the problem */
export function signatureView({ given, expected, encoding, problem }: SignatureCheck, isSaid: boolean): Html {
  const other = encoding === 'hex' ? 'base64' : 'hex';
  return html`
    ${isSaid ? '' : html`<p class="${problem ? 'verdict bad' : 'verdict good'}">${problem ?? 'It matches.'}</p>`}
    <dl class="digest">
      <dt>Expected, in ${encoding} <span class="dim">as this terminal takes it</span></dt><dd class="mono">${expected[encoding]}</dd>
      <dt>The same in ${other}</dt><dd class="mono">${expected[other]}</dd>
      <dt>Came</dt><dd class="mono">${given === undefined ? html`<span class="dim">no Signature header</span>` : given === '' ? html`<span class="dim">an empty header</span>` : html`<bdi>${given.slice(0, 1_000)}</bdi>`}</dd>
    </dl>`;
}
