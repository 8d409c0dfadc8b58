// The frame of every page: plain HTML, one style sheet, nothing from outside.
import { html } from 'hono/html';
import type { PaymentRecord } from '../ledger/record.ts';

export type Html = ReturnType<typeof html>;

interface Page {
  title: string;
  main: Html;
  /** The head of a page that follows what happens in the sandbox. */
  top?: Html;
}

const document = ({ title, main, top }: Page): Html => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Sandbox gateway</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/dashboard.css">
    ${top && html`<script src="/dashboard.js" defer></script>`}
  </head>
  <body>
    ${top ?? html`<header class="top"><a class="brand" href="/">Sandbox gateway</a> <span class="pill">No money moves</span></header>`}
    ${main}
  </body>
</html>
`;

/** What merchants and customers typed is shown, and never run: no script but ours, nothing from elsewhere. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** A whole page. */
export async function htmlResponse(page: Html, status: number): Promise<Response> {
  return new Response(await page, { status, headers: HEADERS });
}

export const pageResponse = (page: Page, status = 200): Promise<Response> => htmlResponse(document(page), status);

/** A style sheet or a script. */
export const asset = (text: string, type: string) =>
  new Response(text, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    },
  });

/** A page that says one thing. */
export const noticeResponse = (title: string, text: string, status: number): Promise<Response> =>
  pageResponse(
    {
      title,
      main: html`<main class="card notice"><h1>${title}</h1><p>${text}</p><p><a href="/">To the dashboard</a></p></main>`,
    },
    status,
  );

/** To another page, by GET. */
export const goTo = (url: string): Response =>
  new Response(null, { status: 303, headers: { location: url, 'cache-control': 'no-store' } });

/** A state, in its colour. */
export const badge = (status: string): Html => html`<span class="badge ${status.toLowerCase()}">${status}</span>`;

/** `ONRAMP_PIX` as people read it. */
export const methodName = (method: string): string => NAMES[method] ?? NAMES[pinned(method)] ?? pinned(method);

const pinned = (method: string): string => method.replace(/^ONRAMP_/, '');

const NAMES: Record<string, string> = {
  APPLEPAY: 'Apple Pay',
  GOOGLEPAY: 'Google Pay',
  CARD: 'Card',
  ONRAMP: 'Crypto on-ramp',
  PAYID: 'PayID',
  IDEAL: 'iDEAL',
  BANCONTACT: 'Bancontact',
  MULTIBANCO: 'Multibanco',
  P24: 'Przelewy24',
  FPS: 'Faster Payments',
  OPENBANKING: 'Open Banking',
  USER_CHOICE: "Customer's choice",
  PIX: 'Pix',
  ZAR: 'South African bank transfer',
  KHIPU: 'Khipu',
  QRTHWALLET: 'Thai QR wallet',
  INTERAC: 'Interac',
  GBPBANKTRANSFER: 'UK bank transfer',
};

/** Rows of a name and its value; those without a value are left out. */
export const facts = (rows: Record<string, Html | string | null | undefined>): Html =>
  html`<dl class="facts">${Object.entries(rows)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

/** A payment as its merchant calls it. */
export const nameOf = ({ reference, id }: PaymentRecord): string => reference || id.slice(0, 8);
