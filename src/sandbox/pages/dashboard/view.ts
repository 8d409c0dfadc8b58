// The data and the shared pieces of the dashboard's pages.
import { html } from 'hono/html';
import type { Parts } from '../../parts.ts';
import { copyButton, type Html, input, nameOf, type Part, sent, type Titled, type Tone } from '../layout.ts';

export interface View extends Parts {
  /** The origin, as the browser knows it. */
  origin: string;
  query: Partial<Record<string, string>>;
  /** Their reasons, by the payment's id. */
  reviews: ReadonlyMap<string, string>;
  /** Of reading the reviews. */
  problem?: string | undefined;
}

export interface Page {
  title: string;
  main: Html;
}

/** @param call of the control API: `PUT /clock` */
export const callForm = (call: string, content: Html, look = '') =>
  html`<form method="post" action="/forms/${call.replace(' ', '')}" class="${look}">${content}</form>`;

/** With a script it follows every letter. */
export const searchForm = ({ query }: View, placeholder: string, choice: Html) =>
  html`<form class="row" role="search" data-filter>
    ${input('search', 'Search', { value: query.search, type: 'search', placeholder }, 'grow')}
    ${choice}<button>Search</button>
  </form>`;

export function firstOf<T>({ query }: View, all: readonly T[]) {
  const asked = Number(query.limit);
  const limit = asked >= 1 ? asked : 100;
  const next = new URLSearchParams({ ...query, limit: `${limit * 10}` });
  const more = all.length > limit && html`<a class="button" href="?${next}">Show more of ${count(all.length)}</a>`;
  return { shown: all.slice(0, limit), more };
}

export const count = (number: number) => number.toLocaleString('en');

export const cards = (all: Titled) =>
  html`${Object.entries(all).map(([title, content]) => content && html`<section class="card" aria-label="${title}"><h2>${title}</h2>${content}</section>`)}`;

export const verdict = (tone: Tone, sentence: string | undefined): Part =>
  sentence && html`<p class="verdict ${tone}">${sent(sentence)}</p>`;

export const columns = (left: Titled, right: Titled) =>
  html`<div class="columns"><div>${cards(left)}</div><div>${cards(right)}</div></div>`;

/** Returns unchanged text that the keyboard scrolls, and a button copies. */
export const rawText = (id: string, label: string, text: string) =>
  html`<div class="raw"><pre id="${id}" tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>${copyButton(label)}</div>`;

/** Shows names in backticks as code. */
export const prose = (text: string) =>
  html`${text.split('`').map((part, at) => (at % 2 ? html`<code>${part}</code>` : part))}`;

/** A forgotten payment has no link. */
export function paymentLink({ ledger }: View, id = '') {
  const record = ledger.find(id);
  return record && html`<a href="/payments/${record.id}">${sent(nameOf(record))}</a>`;
}
