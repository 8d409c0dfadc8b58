// The data of the dashboard's pages, and the pieces that several of them have.
import { html } from 'hono/html';
import type { Parts } from '../../parts.ts';
import { copyButton, type Html, nameOf, sent, type Tone } from '../layout.ts';

export interface View {
  parts: Parts;
  /** Milliseconds since 1970, by the sandbox's clock. */
  now: number;
  url: URL;
  /** The reasons for open reviews, by the payment's id. */
  reviews: ReadonlyMap<string, string>;
  /** The result of the last form. */
  notice?: Notice | undefined;
}

export interface Notice {
  text: Html | string;
  tone: Tone;
}

/** A page of the dashboard. */
export interface Page {
  title: string;
  main: Html;
}

/** Returns the same address with changed parameters. Empty ones are left out. */
function linkTo({ url }: View, changes: Record<string, string | number | undefined>): string {
  const all = { ...Object.fromEntries(url.searchParams), notice: undefined, ...changes };
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(all)) if (value) given.set(name, String(value));
  return given.size > 0 ? `${url.pathname}?${given}` : url.pathname;
}

/** Returns a form that leads back to its page. With a script it does not leave the page. */
export const formOf = (action: string, content: Html, className = ''): Html =>
  html`<form method="post" action="${action}" class="${className}" data-quiet>${content}</form>`;

/** Returns a search by address, which keeps the filter. With a script it follows every letter. */
export function searchOf({ url }: View, filter: string, placeholder: string): Html {
  const [search, filtered] = [url.searchParams.get('search'), url.searchParams.get(filter)];
  return html`<form class="row" role="search" data-filter>
    <div class="field grow"><label class="unseen" for="search">Search</label><input type="search" id="search" name="search" value="${search}" placeholder="${placeholder}" autocomplete="off" spellcheck="false"></div>
    ${filtered && html`<input type="hidden" name="${filter}" value="${filtered}">`}<button>Search</button>
  </form>`;
}

/** Returns links that filter a list, with the number of its lines. The empty value means all. */
export function chipsOf(view: View, parameter: string, chips: readonly (readonly [string, string, number])[]): Html {
  const shown = view.url.searchParams.get(parameter) ?? '';
  return html`<nav class="chips" aria-label="Filters">${chips.map(
    ([value, text, lines]) =>
      html`<a href="${linkTo(view, { [parameter]: value, page: undefined })}" ${value === shown && html`aria-current="true"`}>${text} <span>${count(lines)}</span></a>`,
  )}</nav>`;
}

/** Lines per page of a list. */
const PAGE = 50;

/** Returns the place of the requested page in a list, and the links to its neighbours. */
export function pageOf(view: View, total: number): { limit: number; offset: number; links: Html | false } {
  const wanted = Number.parseInt(view.url.searchParams.get('page') ?? '1', 10) || 1;
  const page = Math.max(Math.min(wanted, Math.ceil(total / PAGE)), 1);
  const offset = (page - 1) * PAGE;
  const link = (to: number, rel: string, text: string) =>
    html`<a class="button" rel="${rel}" href="${linkTo(view, { page: to })}">${text}</a>`;
  const links =
    total > PAGE &&
    html`<nav class="row end" aria-label="Pages"><span class="dim">${offset + 1}–${Math.min(offset + PAGE, total)} of ${count(total)}</span>
    ${page > 1 && link(page - 1, 'prev', 'Newer')}${offset + PAGE < total && link(page + 1, 'next', 'Older')}</nav>`;
  return { limit: PAGE, offset, links };
}

/** Returns a number for people. */
export const count = (number: number): string => number.toLocaleString('en');

/** A titled part of a page, or nothing to leave it out. */
export type Card = readonly [title: string, content: Html | string | undefined | false];

export const cards = (all: readonly Card[]): Html =>
  html`${all.map(([title, content]) => {
    const id = title.toLowerCase().replace(/\W+/g, '-');
    return (
      content && html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`
    );
  })}`;

interface Details {
  /** The names of the list and of the thing. */
  crumbs: readonly [href: string, list: string, name: string | number];
  heading: Html;
  /** Sentences under the heading, each in the colour of its tone. */
  verdicts: readonly { tone: Tone; sentence?: string | undefined }[];
  left: readonly Card[];
  right: readonly Card[];
}

export const detailsOf = ({ crumbs: [href, list, name], heading, verdicts, left, right }: Details): Html => html`
  <p class="crumbs"><a href="${href}">${list}</a> <span aria-hidden="true">/</span> <span class="mono">${name}</span></p>
  <h1>${heading}</h1>
  ${verdicts.map(({ tone, sentence }) => sentence && html`<p class="verdict ${tone}">${sent(sentence)}</p>`)}
  <div class="columns"><div>${cards(left)}</div><div>${cards(right)}</div></div>`;

/** Returns unchanged text, with keyboard scrolling and a copy button by script. */
export const rawText = (id: string, label: string, text: string): Html =>
  html`<div class="raw"><pre id="${id}" tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>${copyButton(label)}</div>`;

/** Returns a sentence with names in backticks as HTML. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

/** Links a payment by its name. A forgotten payment has none. */
export function paymentLink({ parts }: View, id = ''): Html | undefined {
  const record = parts.ledger.find(id);
  return record && html`<a href="/payments/${record.id}">${sent(nameOf(record))}</a>`;
}

/** Indents JSON for people, and returns any other text unchanged. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
