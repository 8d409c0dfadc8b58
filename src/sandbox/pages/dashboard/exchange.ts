// One call or callback: its outcome in a word and a sentence, and its page with all details.
import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { LANGUAGES } from '../../api/correction.ts';
import type { SignatureCheck } from '../../api/signature.ts';
import { type Delivery, isTaken } from '../../callbacks/delivery.ts';
import { FAULTS } from '../../faults/kinds.ts';
import type { Call } from '../../log/events.ts';
import { spanOf } from '../../text/duration.ts';
import { badge, type Html, nameOf, type Part, pill, rows, sent, type Tone, timeOf } from '../layout.ts';
import { callForm, columns, count, paymentLink, prose, rawText, type View, verdict } from './view.ts';

interface Outcome {
  tone: Tone;
  label: string;
  /** Absent if the label is enough. */
  sentence?: string | undefined;
}

export function outcomeOfCall({ answer, durationMs, message: sentence, fault }: Call): Outcome {
  const cut = 'The connection broke in the middle of the answer.';
  if (answer?.isCut) return { tone: 'bad', label: `${answer.status}, cut`, sentence: cut };
  if (answer) return { tone: answer.status < 300 ? 'good' : 'bad', label: String(answer.status), sentence };
  if (durationMs === undefined) return { tone: 'wait', label: 'running' };
  const why = fault ? 'a fault broke the connection' : 'the caller went away before there was one';
  return { tone: 'bad', label: 'no answer', sentence: `No answer was sent: ${why}.` };
}

const NOBODY = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/;

export function outcomeOfDelivery(delivery: Delivery): Outcome {
  const { status, error, durationMs = 0 } = delivery;
  if (error !== undefined) {
    const hint = NOBODY.test(error) ? ' Nobody listens there: start your app, then redeliver it.' : '';
    const label = error.includes('posted') ? 'not posted' : 'no answer';
    return { tone: 'bad', label, sentence: error.replace(/\.?$/, '.') + hint };
  }
  if (status === undefined) return { tone: 'wait', label: 'running', sentence: 'Your app has not answered yet.' };
  const isGood = isTaken(delivery);
  const why = status >= 300 && status < 400 ? ', and a callback follows no redirect' : '';
  const sentence = `Your app ${isGood ? 'took' : 'did not take'} it: ${status} after ${spanOf(durationMs)}${why}.`;
  return { tone: isGood ? 'good' : 'bad', label: String(status), sentence };
}

export const nameOfCall = ({ method, path }: Call) => html`<span class="mono">${method} ${sent(path)}</span>`;

export function callPage(view: View, path: string) {
  const call = view.log.call(Number(path));
  const { method, signature, answer, warnings = [], message, body, bodyLength } = call;
  const { correction } = signature ?? {};
  const outcome = outcomeOfCall(call);
  const left = {
    Signature: signature && signatureView(signature, message),
    'Correct it':
      correction &&
      html`${LANGUAGES.map(([key, name]) => html`<p class="dim">${name}</p>${rawText(`correct-${key}`, `Correction in ${name}`, correction[key])}`)}`,
    [signature ? 'Body: what the signature is made of' : 'Body']: bodyOf(body, bodyLength),
    Headers: rows(Object.fromEntries(call.headers), 'mono'),
  };
  const answered =
    answer &&
    html`${rows(Object.fromEntries(answer.headers), 'mono')}
    ${answer.body && rawText('answered', 'Body of the answer', pretty(answer.body))}`;
  const main = html`<h1>${nameOfCall(call)} ${pill(outcome)}</h1>
    ${verdict(outcome.tone, outcome.sentence)}${warnings.map(warning => verdict('wait', warning))}
    ${columns(left, { 'What happened': factsOf(view, call), Answer: answered })}`;
  return { title: `${outcome.label}: ${method} ${call.path}`, main };
}

export function callbackPage(view: View, path: string) {
  const delivery = view.log.delivery(Number(path));
  const { id, paymentStatus, url, body, repeats, isEdited, answer } = delivery;
  const record = view.ledger.find(delivery.paymentId);
  const outcome = outcomeOfDelivery(delivery);
  const repeated =
    repeats !== undefined &&
    html`<a href="/deliveries/${repeats}">Callback ${repeats}</a> ${isEdited && 'with an edited body'}`;
  const redeliver = (content: Html) => callForm(`POST /deliveries/${id}/redeliver`, content);
  const left = {
    Posted: html`<p class="mono">POST ${sent(url)}</p>${rawText('body', 'Body of the callback', body)}
        ${redeliver(html`<button class="primary" id="redeliver">Redeliver</button> <span class="dim">byte for byte</span>`)}`,
    'Edit it': redeliver(html`<label for="edited">Another body, posted exactly as it is here</label>
        <textarea id="edited" name="body" spellcheck="false" autocomplete="off" dir="ltr">${pretty(body)}</textarea>
        <button>Post this body</button>`),
  };
  const answered = answer && rawText('answer', "Body of your app's answer", answer);
  const main = html`<h1>Callback ${id} ${badge(paymentStatus)} ${pill(outcome)}</h1>
    ${verdict(outcome.tone, outcome.sentence)}
    ${columns(left, { 'What happened': factsOf(view, delivery, repeated), Answer: answered })}`;
  return { title: `${outcome.label}: ${paymentStatus} ${record ? nameOf(record) : ''}, callback ${id}`, main };
}

/** Indents JSON, and returns any other text unchanged. */
function pretty(text: string) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const factsOf = (view: View, { paymentId, fault, at, durationMs }: Call | Delivery, repeated?: Part) =>
  rows({
    Payment: paymentLink(view, paymentId),
    Fault: fault && html`<code>${fault}</code> ${prose(FAULTS[fault])}`,
    Repeats: repeated,
    At: timeOf(at, view.clock.now(), { isPrecise: true }),
    Took: durationMs === undefined ? 'running' : spanOf(durationMs),
  });

/** @param said the problem that the page already shows */
function signatureView({ given, expected, encoding, problem = 'It matches.' }: SignatureCheck, said?: string) {
  const table = {
    'Expected in hex': expected.hex,
    'Expected in base64': expected.base64,
    'This terminal takes': encoding,
    Came: given === undefined ? 'no Signature header' : given.slice(0, 1_000) || 'an empty header',
  };
  return html`${problem !== said && verdict(problem === 'It matches.' ? 'good' : 'bad', problem)}
    ${rows(table, 'mono stacked')}`;
}

/** A signature covers them, and a reader does not see them. */
const HIDDEN = [
  [/\ufffd/, 'is no UTF-8'],
  [/^\ufeff/, 'begins with a byte order mark'],
  [/[\r\n]$/, 'ends with a line break'],
  [/^\s/, 'begins with white space'],
  [/\r\n/, 'has CR LF line ends'],
  [/[^\P{Cc}\t\r\n]/u, 'has control letters'],
] as const;

/** @param length of the whole body */
function bodyOf(bytes: Uint8Array, length: number) {
  if (length === 0) return html`<p class="dim">It has no body.</p>`;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  const notes = HIDDEN.filter(([pattern]) => pattern.test(text)).map(([, name]) => name);
  const digest = createHash('sha256').update(bytes).digest('hex');
  const about = bytes.length < length ? `The first ${count(bytes.length)} are kept.` : `SHA-256: ${digest}.`;
  return html`<p class="dim">${count(length)} bytes${notes.length > 0 && `; it ${notes.join(', ')}`}. ${about}</p>
  ${rawText('body', 'Body, as it arrived', text)}`;
}
