// The frame and the pieces of every page: plain HTML without outside resources.
import { html } from 'hono/html';
import type { PaymentRecord } from '../ledger/record.ts';

export type Html = ReturnType<typeof html>;

export type Part = Html | string | null | undefined | false;

/** Parts by their titles. A page leaves out empty ones. */
export type Titled = Record<string, Part>;

export type Tone = 'good' | 'bad' | 'wait' | 'info' | 'plain';

interface Page {
  title: string;
  status?: number;
  body: Html;
  frameAncestors?: readonly string[];
  formTargets?: readonly string[];
}

export const answer = (body: string, type: string, headers = { 'cache-control': 'no-cache' }, status = 200) => {
  const own = { 'content-type': `${type}; charset=utf-8`, 'x-content-type-options': 'nosniff' };
  return new Response(body, { status, headers: { ...own, ...headers } });
};

export async function pageResponse({ title, status = 200, body, frameAncestors = [], formTargets = [] }: Page) {
  // A refresh would lose the answer to a refused form.
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
  // Input of merchants stays text.
  const policy = [
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'",
    ["form-action 'self'", ...formTargets].join(' '),
    `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`,
  ].join('; ');
  const headers = { 'referrer-policy': 'same-origin', 'cache-control': 'no-store', 'content-security-policy': policy };
  return answer(String(document), 'text/html', headers, status);
}

export const BRAND = html`<a class="brand" href="/">Sandbox gateway</a><span class="pill">No money moves</span>`;

export const noticeResponse = (title: string, text: string, status: number) =>
  pageResponse({
    title: `${title} · Sandbox gateway`,
    status,
    body: html`<header>${BRAND}</header>
      <main class="card"><h1>${title}</h1><p>${text}</p><p><a href="/">To the dashboard</a></p></main>`,
  });

export const pill = ({ tone, label }: { tone: Tone; label: string }) =>
  html`<span class="pill ${tone}">${label}</span>`;

const TONES: Record<string, Tone> = {
  COMPLETED: 'good',
  FAILED: 'bad',
  AUTHORIZED: 'info',
  PENDING: 'wait',
  passed: 'good',
  failed: 'bad',
  unchecked: 'wait',
};

export const toneOf = (status: string) => TONES[status] ?? 'plain';

export const badge = (status: string) => pill({ tone: toneOf(status), label: status });

/** The time of day in UTC, with the date unless it is today. */
export function timeOf(at: number, now: number, { isPrecise = false } = {}) {
  const iso = new Date(at).toISOString();
  const [date = '', time = ''] = iso.split(/[TZ]/);
  const day = new Date(now).toISOString().startsWith(date) ? '' : `${date} `;
  return html`<time datetime="${iso}" title="${date} ${time} UTC">${day}${isPrecise ? time : time.slice(0, 8)}</time>`;
}

/** A text in its own writing direction: of a merchant, or one that begins with a digit. */
export const sent = (text: string) => html`<bdi>${text}</bdi>`;

export function rows(all: Titled, look = '') {
  const given = Object.entries(all).filter(([, value]) => value);
  const lines = given.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? sent(value) : value}</dd></div>`,
  );
  return lines.length > 0 && html`<dl class="${look}">${lines}</dl>`;
}

const field = (name: string, label: string, control: Html, look = '') =>
  html`<div class="field ${look}"><label for="${name}">${label}</label>${control}</div>`;

type Attributes = Record<string, string | number | boolean | undefined>;

export function input(name: string, label: string, given: Attributes = {}, look = '') {
  const attributes = Object.entries({ id: name, name, ...given, value: given.value ?? '', autocomplete: 'off' }).map(
    ([name, value]) => (value ?? false) !== false && (value === true ? ` ${name}` : html` ${name}="${value}"`),
  );
  return field(name, label, html`<input${attributes}>`, look);
}

type Choice = string | readonly [value: string, text: string, ...unknown[]];

export function select(name: string, label: string, choices: readonly Choice[], chosen?: string) {
  const options = choices.map(choice => {
    const [value, text = value] = typeof choice === 'string' ? [choice] : choice;
    return html`<option ${value !== text && html`value="${value}"`} ${value === chosen && 'selected'}>${text}</option>`;
  });
  return field(name, label, html`<select id="${name}" name="${name}">${options}</select>`);
}

/** Copies the text before it. */
export const copyButton = (label: string) =>
  html`<button type="button" class="copy" aria-label="Copy ${label}">Copy</button>`;

export const nameOf = ({ reference, id }: PaymentRecord) => reference || id.slice(0, 8);
