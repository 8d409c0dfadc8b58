// The inspector of a call: the exact bytes, the signature, the answer, and the reason.
import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { curlOfCall } from '../../api/curl.ts';
import type { Call } from '../../events.ts';
import { FAULTS } from '../../faults/kinds.ts';
import { facts, type Html } from '../layout.ts';
import { bodyOf, pretty } from './bytes.ts';
import { paymentLink } from './log-table.ts';
import { outcomeOfCall, pill } from './outcome.ts';
import { signatureView } from './signature.ts';
import { spanOf, timeOf } from './time.ts';
import { prose, rawText, sent, type View } from './view.ts';

export const callTitle = (call: Call): string => `${outcomeOfCall(call).label}: ${call.method} ${call.path}`;

export function callPage(view: View, call: Call): Html {
  const { id, method, path, at, durationMs, fault, paymentId, signature } = call;
  const outcome = outcomeOfCall(call);
  return html`<p class="crumbs"><a href="/calls">Calls</a> <span aria-hidden="true">/</span> ${id}</p>
  <h1 class="request"><span class="mono">${method} ${sent(path)}</span> ${pill(outcome)}</h1>
  ${outcome.sentence ? html`<p class="verdict ${outcome.tone}">${sent(outcome.sentence)}</p>` : ''}
  ${call.warnings?.map(warning => html`<p class="verdict wait">${sent(warning)}</p>`)}
  <div class="columns">
    <div>
      ${signature ? html`<section class="card" aria-labelledby="signature"><h2 id="signature">Signature</h2>${signatureView(signature, call.message !== undefined && signature.problem === call.message)}</section>` : ''}
      <section class="card" aria-labelledby="sent"><h2 id="sent">${signature ? 'Body: what the signature is made of' : 'Body'}</h2>
        ${bodyOf(call.body, call.bodyLength)}
        ${signature ? html`<p class="dim">The signature is the HMAC-SHA256 of exactly these bytes, under the sign key.${digestOf(call)}</p>` : ''}
      </section>
      <section class="card" aria-labelledby="headers"><h2 id="headers">Headers</h2>${headerList(call.headers)}</section>
    </div>
    <div>
      <section class="card" aria-labelledby="facts"><h2 id="facts">What happened</h2>
        ${facts({
          Answer: pill(outcome),
          Payment: paymentId ? paymentLink(view, paymentId) : undefined,
          Fault: fault && html`<code>${fault}</code> ${prose(FAULTS[fault])}`,
          Key: keyWords(call),
          Arrived: timeOf(at, view.now, { isPrecise: true }),
          Took: durationMs === undefined ? 'under way' : spanOf(durationMs),
        })}
      </section>
      ${answerCard(call)}
      ${curlCard(view, call)}
    </div>
  </div>`;
}

const keyWords = ({ hasRightKey }: Call): string | undefined =>
  hasRightKey === undefined
    ? undefined
    : hasRightKey
      ? 'the API key of this terminal'
      : 'not the API key of this terminal';

/** A hash to compare with the bytes that an app signed. */
const digestOf = ({ body, bodyLength }: Call): Html | string =>
  body.length < bodyLength
    ? ''
    : html` Their SHA-256, to compare with those that your app signed: <span class="mono digestLine">${createHash('sha256').update(body).digest('hex')}</span>`;

const headerList = (headers: readonly (readonly [string, string])[]): Html =>
  html`<dl class="headers">${headers.map(([name, value]) => html`<div><dt class="mono">${name}</dt><dd class="mono">${sent(value)}</dd></div>`)}</dl>`;

function answerCard({ answer, durationMs }: Call): Html {
  const content = answer
    ? html`<p>${answer.status}${answer.isCut ? ', and the connection broke in the middle of the body' : ''}</p>
      ${headerList(answer.headers)}
      ${answer.body === '' ? '' : rawText('answer', 'Body of the answer', pretty(answer.body))}`
    : html`<p class="dim">${durationMs === undefined ? 'It is under way.' : 'None was sent.'}</p>`;
  return html`<section class="card" aria-labelledby="answered"><h2 id="answered">Answer</h2>${content}</section>`;
}

function curlCard({ parts, url }: View, call: Call): Html {
  const command = curlOfCall(call, url.origin, parts.settings.apiKey);
  return html`<section class="card" aria-labelledby="as-curl"><h2 id="as-curl">As curl</h2>${
    command === undefined
      ? html`<p class="dim">Its body is longer than what is kept of it.</p>`
      : html`<p class="dim">Sends the same bytes and headers again${call.hasRightKey === false ? '; put in the key yourself' : ''}.</p>${rawText('curl', 'The call as a curl command', command)}`
  }</section>`;
}
