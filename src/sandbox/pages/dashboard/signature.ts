// Compares a signature with the expected one: aligned, with the differences marked.
import { html } from 'hono/html';
import type { SignatureCheck } from '../../api/signature.ts';
import type { Html } from '../layout.ts';

/** Letters per line. */
const LINE = 32;
/** The longest compared part: no signature is longer. */
const LONGEST = 128;

/** Returns the number of differing letters and the first of them, counted from 1. */
export function difference(came: string, expected: string): { count: number; first: number } {
  const length = Math.max(came.length, expected.length);
  const places = Array.from({ length }, (_, index) => index).filter(index => came[index] !== expected[index]);
  return { count: places.length, first: (places[0] ?? -1) + 1 };
}

/** @param isSaid whether the page already shows the problem */
export function signatureView({ given, expected, encoding, problem }: SignatureCheck, isSaid: boolean): Html {
  const other = encoding === 'hex' ? 'base64' : 'hex';
  return html`
    ${isSaid ? '' : html`<p class="${problem ? 'verdict bad' : 'verdict good'}">${problem ?? 'It matches.'}</p>`}
    ${given === undefined ? '' : comparison(given, expected[encoding])}
    <dl class="digest">
      <dt>Expected, in ${encoding} <span class="dim">as this terminal takes it</span></dt><dd class="mono">${expected[encoding]}</dd>
      <dt>The same in ${other}</dt><dd class="mono">${expected[other]}</dd>
      <dt>Came</dt><dd class="mono">${given === undefined ? html`<span class="dim">no Signature header</span>` : given === '' ? html`<span class="dim">an empty header</span>` : html`<bdi>${given.slice(0, 1_000)}</bdi>`}</dd>
    </dl>`;
}

function comparison(given: string, expected: string): Html | string {
  const { count, first } = difference(given, expected);
  if (count === 0) return '';
  // Missing letters have a place too.
  const came = given.slice(0, LONGEST).padEnd(expected.length, '·');
  const length = Math.max(came.length, expected.length);
  const starts = Array.from({ length: Math.ceil(length / LINE) }, (_, index) => index * LINE);
  const words =
    given.length === expected.length ? '' : ` It has ${given.length} letters, and should have ${expected.length}.`;
  return html`<p>${count === length ? 'No letter is in its place.' : `${count} of ${length} letters differ, from letter ${first} on.`}${words}</p>
    <div class="aligned mono" aria-hidden="true">${starts.map(
      at =>
        html`<div><span>expected</span><code>${expected.slice(at, at + LINE)}</code><span>came</span><code>${marked(came.slice(at, at + LINE), expected.slice(at, at + LINE))}</code></div>`,
    )}</div>`;
}

/** Marks runs of differing letters. */
function marked(came: string, expected: string): Html {
  const runs: { text: string; isSame: boolean }[] = [];
  for (const [index, letter] of [...came].entries()) {
    const isSame = letter === expected[index];
    const last = runs.at(-1);
    if (last?.isSame === isSame) last.text += letter;
    else runs.push({ text: letter, isSame });
  }
  return html`${runs.map(({ text, isSame }) => (isSame ? text : html`<mark>${text}</mark>`))}`;
}
