// The frame and the shared pieces of every page: plain HTML with one style sheet, one script and no outside resources.
import { html } from 'hono/html';
import type { PaymentRecord } from '../ledger/record.ts';

export type Html = ReturnType<typeof html>;

export type Part = Html | string | null | undefined | false;

/** The parts of a page by their titles. A page leaves out empty ones. */
export type Titled = Readonly<Record<string, Part>>;

export type Tone = 'good' | 'bad' | 'wait' | 'info' | 'plain';

interface Page {
  title: string;
  status?: number;
  body: Html;
  /** The origins whose pages may embed it. */
  frameAncestors?: readonly string[];
  /** Where the redirects of its forms lead, besides this sandbox. */
  formTargets?: readonly string[];
}

const answerOf = (body: string, type: string, headers: Record<string, string>, status = 200): Response =>
  new Response(body, {
    status,
    headers: { 'content-type': `${type}; charset=utf-8`, 'x-content-type-options': 'nosniff', ...headers },
  });

export const asset = (text: string, type: string): Response => answerOf(text, type, { 'cache-control': 'no-cache' });

export async function pageResponse(page: Page): Promise<Response> {
  const { title, status = 200, body, frameAncestors = [], formTargets = [] } = page;
  // Events refresh a page, but not the answer to a refused form: loading that again would lose it.
  const document = await html`<!doctype html>
<html lang="en" dir="ltr">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/pages.css">
    ${status === 200 && html`<script src="/pages.js" defer></script>`}
  </head>
  <body>${body}<p class="unseen" id="news" role="status" data-own></p></body>
</html>
`;
  // Input of merchants stays text: only our own scripts and resources are allowed.
  const policy = [
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'",
    ["form-action 'self'", ...formTargets].join(' '),
    `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`,
  ].join('; ');
  const headers = { 'referrer-policy': 'same-origin', 'cache-control': 'no-store', 'content-security-policy': policy };
  return answerOf(String(document), 'text/html', headers, status);
}

export const BRAND = html`<a class="brand" href="/">Sandbox gateway</a><span class="pill">No money moves</span>`;

export const noticeResponse = (title: string, text: string, status: number): Promise<Response> =>
  pageResponse({
    title: `${title} · Sandbox gateway`,
    status,
    body: html`<header>${BRAND}</header>
      <main class="card"><h1>${title}</h1><p>${text}</p><p><a href="/">To the dashboard</a></p></main>`,
  });

export const pill = ({ tone, label }: { tone: Tone; label: string }): Html =>
  html`<span class="pill ${tone}">${label}</span>`;

const TONES: Partial<Record<string, Tone>> = {
  ...{ COMPLETED: 'good', FAILED: 'bad', AUTHORIZED: 'info', PENDING: 'wait' },
  ...{ passed: 'good', failed: 'bad', unchecked: 'wait' },
};

export const toneOf = (status: string): Tone => TONES[status] ?? 'plain';

export const badge = (status: string): Html => pill({ tone: toneOf(status), label: status });

/** Formats the time of day in UTC, with the date unless it is today. */
export function timeOf(at: number, now: number, { isPrecise = false } = {}): Html {
  const [date = '', time = ''] = new Date(at).toISOString().split(/[TZ]/);
  const isToday = new Date(now).toISOString().startsWith(date);
  const text = `${isToday ? '' : `${date} `}${isPrecise ? time : time.slice(0, 8)}`;
  return html`<time datetime="${date}T${time}Z" title="${date} ${time} UTC">${text}</time>`;
}

/** Returns a text in its own writing direction: one of a merchant, or one that begins with a digit. */
export const sent = (text: string): Html => html`<bdi>${text}</bdi>`;

export function rows(all: Titled, look = ''): Html | undefined {
  const given = Object.entries(all).filter(([, value]) => value);
  if (given.length === 0) return undefined;
  return html`<dl class="${look}">${given.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? sent(value) : value}</dd></div>`,
  )}</dl>`;
}

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

const field = (name: string, label: string, control: Html, look = ''): Html =>
  html`<div class="field ${look}"><label for="${name}">${label}</label>${control}</div>`;

export function input(name: string, label: string, given: Attributes = {}, look = ''): Html {
  const attributes = Object.entries({ id: name, name, ...given, value: given.value ?? '', autocomplete: 'off' })
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? ` ${name}` : html` ${name}="${value}"`));
  return field(name, label, html`<input${attributes}>`, look);
}

type Choice = string | readonly [value: string, text: string];

export function select(name: string, label: string, choices: readonly Choice[], chosen?: string): Html {
  const options = choices.map(choice => {
    const [value, text] = typeof choice === 'string' ? [choice, choice] : choice;
    return html`<option ${value !== text && html`value="${value}"`} ${value === chosen && 'selected'}>${text}</option>`;
  });
  return field(name, label, html`<select id="${name}" name="${name}">${options}</select>`);
}

/** Returns a button that copies the text before it. */
export const copyButton = (label: string): Html =>
  html`<button type="button" class="copy" aria-label="Copy ${label}">Copy</button>`;

export const nameOf = ({ reference, id }: PaymentRecord): string => reference || id.slice(0, 8);
