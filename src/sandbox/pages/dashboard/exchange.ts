// The inspector of one call or one callback: its bytes, its signature, its answer, and the reason for it.
import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { LANGUAGES } from '../../api/correction.ts';
import type { SignatureCheck } from '../../api/signature.ts';
import type { Delivery } from '../../callbacks/delivery.ts';
import { spanOf } from '../../duration.ts';
import type { Call } from '../../events.ts';
import { FAULTS } from '../../faults/kinds.ts';
import { badge, type Html, nameOf, type Part, pill, rows, sent, timeOf } from '../layout.ts';
import { type Outcome, outcomeOfCall, outcomeOfDelivery } from './outcome.ts';
import {
  type Card,
  callForm,
  count,
  detailsOf,
  type Page,
  paymentLink,
  pretty,
  prose,
  rawText,
  type View,
} from './view.ts';

interface Exchange {
  title: string;
  name: Html;
  outcome: Outcome;
  warnings?: readonly string[] | undefined;
  left: readonly Card[];
  /** The facts that only its kind has. */
  facts?: Readonly<Record<string, Part>>;
  answer: Html;
}

function inspected(view: View, { id, paymentId, fault, at, durationMs }: Call | Delivery, exchange: Exchange): Page {
  const { title, name, outcome, warnings = [], left, facts, answer } = exchange;
  const happened = rows({
    Payment: paymentLink(view, paymentId),
    Fault: fault && html`<code>${fault}</code> ${prose(FAULTS[fault])}`,
    ...facts,
    At: timeOf(at, view.now, { isPrecise: true }),
    Took: durationMs === undefined ? 'running' : spanOf(durationMs),
  });
  const main = detailsOf({
    crumbs: ['/activity', 'Activity', id],
    heading: html`${name} ${pill(outcome)}`,
    verdicts: [outcome, ...warnings.map(sentence => ({ tone: 'wait' as const, sentence }))],
    left,
    right: [
      ['What happened', happened],
      ['Answer', answer],
    ],
  });
  return { title: `${outcome.label}: ${title}`, main };
}

export function callPage(view: View, id: string): Page {
  const call = view.parts.log.call(Number(id));
  const { method, path, durationMs, signature, answer, warnings, message, body, bodyLength } = call;
  const correction = signature?.correction;
  return inspected(view, call, {
    title: `${method} ${path}`,
    name: html`<span class="mono">${method} ${sent(path)}</span>`,
    outcome: outcomeOfCall({ ...call, ...answer }),
    warnings,
    left: [
      ['Signature', signature && signatureView(signature, message !== undefined && signature.problem === message)],
      [
        'Correct it',
        correction &&
          html`${LANGUAGES.map(([key, name]) => html`<p class="dim">${name}</p>${rawText(`correct-${key}`, `Correction in ${name}`, correction[key])}`)}`,
      ],
      [signature ? 'Body: what the signature is made of' : 'Body', bodyOf(body, bodyLength)],
      ['Headers', rows(call.headers, 'mono')],
    ],
    answer: answer
      ? html`<p>${answer.status}${answer.isCut && ', and the connection broke in the middle of the body'}</p>
        ${rows(answer.headers, 'mono')}${answer.body && rawText('answered', 'Body of the answer', pretty(answer.body))}`
      : html`<p class="dim">${durationMs === undefined ? 'No answer yet.' : 'No answer was sent.'}</p>`,
  });
}

export function callbackPage(view: View, path: string): Page {
  const { log, ledger } = view.parts;
  const delivery = log.delivery(Number(path));
  const { id, paymentId, paymentStatus, url, body, repeats, isEdited, status, answer, error } = delivery;
  const record = ledger.find(paymentId);
  const repeated = log.deliveriesOf(paymentId).filter(one => one.repeats === id);
  const link = (id: number) => html`<a href="/deliveries/${id}">Callback ${id}</a> `;
  const redeliver = (content: Html) => callForm(`POST /deliveries/${id}/redeliver`, content);
  return inspected(view, delivery, {
    title: `${paymentStatus} ${record ? nameOf(record) : ''}, callback ${id}`,
    name: html`Callback ${id} ${badge(paymentStatus)}`,
    outcome: outcomeOfDelivery(delivery),
    left: [
      [
        'Posted',
        html`<p class="mono">POST ${sent(url)}</p>${rawText('body', 'Body of the callback', body)}
        ${redeliver(html`<button class="primary" id="redeliver">Redeliver</button> <span class="dim">byte for byte</span>`)}`,
      ],
      [
        'Edit it',
        redeliver(html`<label for="edited">Another body, posted exactly as it is here</label>
          <textarea id="edited" name="body" spellcheck="false" autocomplete="off" dir="ltr">${pretty(body)}</textarea>
          <button>Post this body</button>`),
      ],
    ],
    facts: {
      Repeats: repeats !== undefined && html`${link(repeats)}${isEdited && 'with an edited body'}`,
      Redelivered: repeated.length > 0 && html`${repeated.map(one => link(one.id))}`,
    },
    answer: html`<p>${status ?? (error ? sent(error) : 'No answer yet.')}</p>${answer && rawText('answer', "Body of your app's answer", answer)}`,
  });
}

/** @param isSaid whether the page already shows the problem */
function signatureView({ given, expected, encoding, problem }: SignatureCheck, isSaid: boolean): Html {
  const other = encoding === 'hex' ? 'base64' : 'hex';
  const came = given === undefined ? 'no Signature header' : given === '' ? 'an empty header' : given.slice(0, 1_000);
  const table = [
    [html`Expected, in ${encoding} <span class="dim">as this terminal takes it</span>`, expected[encoding]],
    [`The same in ${other}`, expected[other]],
    ['Came', came],
  ] as const;
  return html`${!isSaid && html`<p class="verdict ${problem ? 'bad' : 'good'}">${problem ?? 'It matches.'}</p>`}
    ${rows(table, 'mono stacked')}`;
}

/** The parts that a reader does not see, but a signature covers. */
const HIDDEN: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\ufffd/, 'is no UTF-8'],
  [/^\ufeff/, 'begins with a byte order mark'],
  [/[\r\n]$/, 'ends with a line break'],
  [/^\s/, 'begins with white space'],
  [/\r\n/, 'has CR LF line ends'],
  [/[^\P{Cc}\t\r\n]/u, 'has control letters'],
];

/** Shows a body as it arrived. It was `length` bytes long then. */
function bodyOf(bytes: Uint8Array, length: number): Html {
  if (length === 0) return html`<p class="dim">It has no body.</p>`;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  const notes = HIDDEN.filter(([pattern]) => pattern.test(text)).map(([, name]) => name);
  const digest = createHash('sha256').update(bytes).digest('hex');
  const about = bytes.length < length ? `The first ${count(bytes.length)} are kept.` : `SHA-256: ${digest}.`;
  return html`<p class="dim">${count(length)} bytes${notes.length > 0 && `; it ${notes.join(', ')}`}. ${about}</p>
  ${rawText('body', 'Body, as it arrived', text)}`;
}
