// The frame of every page: plain HTML with one style sheet and no outside resources.
import { html } from 'hono/html';
import type { PaymentRecord } from '../ledger/record.ts';

export type Html = ReturnType<typeof html>;

interface Page {
  title: string;
  main: Html;
  /** The head of a page that follows the sandbox's events. */
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

/** Shows user input as text only: the policy allows just our own scripts and resources. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

export async function htmlResponse(page: Html, status: number): Promise<Response> {
  return new Response(await page, { status, headers: HEADERS });
}

export const pageResponse = (page: Page, status = 200): Promise<Response> => htmlResponse(document(page), status);

export const asset = (text: string, type: string) =>
  new Response(text, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    },
  });

/** Returns a page with one message. */
export const noticeResponse = (title: string, text: string, status: number): Promise<Response> =>
  pageResponse(
    {
      title,
      main: html`<main class="card notice"><h1>${title}</h1><p>${text}</p><p><a href="/">To the dashboard</a></p></main>`,
    },
    status,
  );

/** Redirects to another page, by GET. */
export const goTo = (url: string): Response =>
  new Response(null, { status: 303, headers: { location: url, 'cache-control': 'no-store' } });

/** Returns a state in its colour. */
export const badge = (status: string): Html => html`<span class="badge ${status.toLowerCase()}">${status}</span>`;

/** Returns a method's readable name, for example of `ONRAMP_PIX`. */
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

/** Returns rows of names and values, without empty ones. */
export const facts = (rows: Record<string, Html | string | null | undefined>): Html =>
  html`<dl class="facts">${Object.entries(rows)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

/** Returns the merchant's name for a payment. */
export const nameOf = ({ reference, id }: PaymentRecord): string => reference || id.slice(0, 8);
