// The frame and the shared pieces of every page: plain HTML with one style sheet, one script and no outside resources.
import { html } from 'hono/html';
import type { PaymentRecord } from '../ledger/record.ts';

export type Html = ReturnType<typeof html>;

export type Tone = 'good' | 'bad' | 'wait' | 'info' | 'plain';

interface Page {
  title: string;
  body: Html;
  /** The address of the events that refresh the page. */
  live?: string;
  /** The style of the page. */
  look?: 'dashboard' | 'customer';
  /** The origins whose pages may embed it. */
  frameAncestors?: readonly string[];
  /** Where the redirects of its forms lead, besides this sandbox. */
  formTargets?: readonly string[];
}

const document = ({ title, body, live, look = 'dashboard' }: Page): Html => html`<!doctype html>
<html lang="en" dir="ltr" class="${look}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/pages.css">
    ${live && html`<script src="/pages.js" defer></script>`}
  </head>
  <body data-live="${live}">${body}<p class="unseen" id="news" role="status"></p></body>
</html>
`;

/** Shows user input as text only: the policy allows just our own scripts and resources. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'";
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

export async function pageResponse(page: Page, status = 200): Promise<Response> {
  const { frameAncestors, formTargets = [] } = page;
  const forms = ["form-action 'self'", ...formTargets].join(' ');
  const policy = `${POLICY}; ${forms}; frame-ancestors ${frameAncestors?.join(' ') || "'none'"}`;
  return new Response(await document(page), { status, headers: { ...HEADERS, 'content-security-policy': policy } });
}

export const asset = (text: string, type: string) =>
  new Response(text, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    },
  });

export const BRAND = html`<a class="brand" href="/">Sandbox gateway</a><span class="tag">No money moves</span>`;

/** Returns a page with one message. */
export const noticeResponse = (title: string, text: string, status: number): Promise<Response> =>
  pageResponse(
    {
      title: `${title} · Sandbox gateway`,
      body: html`<header class="bar">${BRAND}</header>
      <main class="card notice"><h1>${title}</h1><p>${text}</p><p><a href="/">To the dashboard</a></p></main>`,
    },
    status,
  );

/** Returns a word or two in the colour of their meaning. */
export const pill = ({ tone, label }: { tone: Tone; label: string }): Html =>
  html`<span class="pill ${tone}">${label}</span>`;

const TONES: Partial<Record<string, Tone>> = { COMPLETED: 'good', FAILED: 'bad', AUTHORIZED: 'info', PENDING: 'wait' };

export const toneOf = (status: string): Tone => TONES[status] ?? 'plain';

/** Returns a state in its colour. */
export const badge = (status: string): Html => pill({ tone: toneOf(status), label: status });

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Formats the time of day in UTC, with the date unless it is today. */
export function timeOf(at: number, now: number, { isPrecise = false } = {}): Html {
  const iso = new Date(at).toISOString();
  const time = iso.slice(11, isPrecise ? 23 : 19);
  const text = dayOf(at) === dayOf(now) ? time : `${iso.slice(0, 10)} ${time}`;
  return html`<time datetime="${iso}" title="${iso.slice(0, 10)} ${iso.slice(11, 23)} UTC">${text}</time>`;
}

/** Returns a text in its own writing direction: one of a merchant, or one that begins with a digit. */
export const sent = (text: string): Html => html`<bdi>${text}</bdi>`;

/** Returns rows of names and values, without empty ones. */
export function rows(entries: Record<string, Html | string | null | undefined | false>): Html | undefined {
  const given = Object.entries(entries).filter(([, value]) => value);
  if (given.length === 0) return undefined;
  return html`<dl class="rows">${given.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? sent(value) : value}</dd></div>`,
  )}</dl>`;
}

/** Returns a button that copies the text before it, or another one. */
export const copyButton = (label: string, text = ''): Html =>
  html`<button type="button" class="copy small" data-copy="${text}" aria-label="Copy ${label}">Copy</button>`;

/** Returns the merchant's name for a payment. */
export const nameOf = ({ reference, id }: PaymentRecord): string => reference || id.slice(0, 8);
