// The calls that arrived: their list, and the inspector of one with its bytes, signature, answer and reason.
import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { Correction } from '../../api/correction.ts';
import { curlOfCall } from '../../api/curl.ts';
import type { SignatureCheck } from '../../api/signature.ts';
import type { Call } from '../../events.ts';
import { KEPT_CALLS } from '../../log.ts';
import { type Html, nameOf, pill, sent } from '../layout.ts';
import { factsOf, logPage } from './log.ts';
import { outcomeOfCall } from './outcome.ts';
import { timeOf } from './time.ts';
import { count, detailsOf, lineOf, type Page, pretty, rawText, type View } from './view.ts';

export const callsPage = (view: View): Page =>
  logPage<Call>(view, {
    title: 'Calls',
    lead: html`What arrived at the gateway's addresses, and what was answered. The latest ${KEPT_CALLS} are kept, and the create of each payment.`,
    log: view.parts.log.calls,
    filters: {
      '': ['All', () => true],
      refused: ['Refused or broken', call => outcomeOfCall(call).tone === 'bad'],
      faulty: ['With a fault', ({ fault }) => fault !== undefined],
    },
    heads: ['Call', 'Arrived'],
    nameOf: call => html`<a href="/calls/${call.id}" id="open-call-${call.id}">${callName(call)}</a>`,
    outcomeOf: outcomeOfCall,
    none: html`None has arrived yet. <a href="/">The first page</a> has a command that makes one.`,
  });

/** Returns a short line for other pages. */
export function callLine(view: View, call: Call): Html {
  const record = view.parts.ledger.find(call.paymentId ?? '');
  const name = record ? html`<span class="mono">${call.method}</span> ${sent(nameOf(record))}` : callName(call);
  return lineOf(outcomeOfCall(call), html`<a href="/calls/${call.id}">${name}</a>`, timeOf(call.at, view.now));
}

/** Shortens the API's long paths, which begin alike. */
const callName = ({ method, path }: Call): Html =>
  html`<span class="mono">${method} ${path.replace(/^\/api\/v1/, '')}</span>`;

export function callPage(view: View, id: string): Page {
  const call = view.parts.log.call(Number(id));
  const { method, path, durationMs, signature, answer, hasRightKey, warnings = [] } = call;
  const outcome = outcomeOfCall(call);
  const command = curlOfCall(call, view.url.origin, view.parts.settings.apiKey);
  const isSaid = call.message !== undefined && signature?.problem === call.message;
  const main = detailsOf({
    list: ['/calls', 'Calls'],
    id: call.id,
    heading: html`<span class="mono">${method} ${sent(path)}</span> ${pill(outcome)}`,
    verdicts: [outcome, ...warnings.map(sentence => ({ tone: 'wait' as const, sentence }))],
    left: [
      ['Signature', signature && signatureView(signature, isSaid)],
      ['Correct it', signature?.correction && correctionView(signature.correction)],
      [
        signature ? 'Body: what the signature is made of' : 'Body',
        html`${bodyOf(call.body, call.bodyLength)}
        ${signature && html`<p class="dim">The signature is the HMAC-SHA256 of exactly these bytes, under the sign key.${digestOf(call)}</p>`}`,
      ],
      ['Headers', headerList(call.headers)],
    ],
    right: [
      [
        'What happened',
        factsOf(view, call, outcome, {
          Key: hasRightKey !== undefined && `${hasRightKey ? 'the' : 'not the'} API key of this terminal`,
        }),
      ],
      [
        'Answer',
        answer
          ? html`<p>${answer.status}${answer.isCut && ', and the connection broke in the middle of the body'}</p>
            ${headerList(answer.headers)}${answer.body && rawText('answered', 'Body of the answer', pretty(answer.body))}`
          : html`<p class="dim">${durationMs === undefined ? 'It is under way.' : 'None was sent.'}</p>`,
      ],
      [
        'As curl',
        command === undefined
          ? html`<p class="dim">Its body is longer than what is kept of it.</p>`
          : html`<p class="dim">Sends the same bytes and headers again${hasRightKey === false && '; put in the key yourself'}.</p>${rawText('curl', 'The call as a curl command', command)}`,
      ],
    ],
  });
  return { title: `${outcome.label}: ${method} ${path}`, main };
}

/** @param isSaid whether the page already shows the problem */
function signatureView({ given, expected, encoding, problem }: SignatureCheck, isSaid: boolean): Html {
  const other = encoding === 'hex' ? 'base64' : 'hex';
  const came = given === undefined ? 'no Signature header' : given === '' ? 'an empty header' : given.slice(0, 1_000);
  return html`${!isSaid && html`<p class="verdict ${problem ? 'bad' : 'good'}">${problem ?? 'It matches.'}</p>`}
    <dl class="rows stacked">
      <div><dt>Expected, in ${encoding} <span class="dim">as this terminal takes it</span></dt><dd class="mono">${expected[encoding]}</dd></div>
      <div><dt>The same in ${other}</dt><dd class="mono">${expected[other]}</dd></div>
      <div><dt>Came</dt><dd class="${given ? 'mono' : 'dim'}"><bdi>${came}</bdi></dd></div>
    </dl>`;
}

const LANGUAGES = [
  ['php', 'PHP'],
  ['python', 'Python'],
  ['node', 'Node'],
  ['curl', 'curl and openssl'],
] as const;

const correctionView = (correction: Correction): Html =>
  html`${LANGUAGES.map(([key, name]) => html`<p class="dim">${name}</p>${rawText(`correct-${key}`, `Correction in ${name}`, correction[key])}`)}`;

/** A hash to compare with the bytes that an app signed. */
const digestOf = ({ body, bodyLength }: Call): Html | false =>
  body.length === bodyLength &&
  html` Their SHA-256, to compare with those that your app signed: <span class="mono">${createHash('sha256').update(body).digest('hex')}</span>`;

const headerList = (headers: readonly (readonly [string, string])[]): Html =>
  html`<dl class="rows mono">${headers.map(([name, value]) => html`<div><dt>${name}</dt><dd>${sent(value)}</dd></div>`)}</dl>`;

/** Names the parts that a reader does not see, but a signature covers. */
function hidden(text: string): string[] {
  const found = [
    text.includes('\ufffd') && 'is no UTF-8',
    text.startsWith('\ufeff') && 'begins with a byte order mark',
    /[\r\n]$/.test(text) && 'ends with a line break',
    /^\s/.test(text) && 'begins with white space',
    text.includes('\r\n') && 'has CR LF line ends',
    /[^\P{Cc}\t\r\n]/u.test(text) && 'has control letters',
  ];
  return found.filter(one => one !== false);
}

/** Shows a body on its page. It was `length` bytes long on arrival. */
function bodyOf(bytes: Uint8Array, length: number): Html {
  if (length === 0) return html`<p class="dim">It has no body.</p>`;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  const notes = hidden(text);
  return html`<p class="dim">${count(length)} bytes${notes.length > 0 && `; it ${notes.join(', ')}`}.${
    bytes.length < length && ` The first ${count(bytes.length)} are kept.`
  }</p>
  ${rawText('body', 'Body, as it arrived', text)}`;
}
