// The data of the dashboard's pages, and their two templates: a list with filters, and the details of one thing.
import { html } from 'hono/html';
import type { Parts } from '../../parts.ts';
import { copyButton, type Html, nameOf, pill, sent } from '../layout.ts';
import type { Outcome } from './outcome.ts';

export interface View {
  parts: Parts;
  /** Milliseconds since 1970, by the sandbox's clock. */
  now: number;
  url: URL;
  /** The result of the last form. */
  notice?: Notice | undefined;
}

export interface Notice {
  text: Html | string;
  tone: Outcome['tone'];
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

/** Lines per page of a list. */
export const PAGE = 50;

/** Returns the place of the requested page in a list. */
export function pageOf({ url }: View, total: number): { page: number; offset: number } {
  const wanted = Number.parseInt(url.searchParams.get('page') ?? '1', 10) || 1;
  const page = Math.max(Math.min(wanted, Math.ceil(total / PAGE)), 1);
  return { page, offset: (page - 1) * PAGE };
}

/** Returns a number for people. */
export const count = (number: number): string => number.toLocaleString('en');

interface Column<T> {
  /** The class that gives its place on a narrow screen. */
  name: 'state' | 'name' | 'side' | 'extra' | 'number' | 'time' | 'move';
  head: string;
  cell(one: T): Html | string | undefined;
}

interface List<T> {
  /** The parameter of the filters, and their label. */
  filter: readonly [parameter: string, label: string];
  /** The filters with the number of their lines. The empty value means all. */
  chips: readonly (readonly [value: string, label: string, lines: number])[];
  /** The lines of this page, out of `total`. */
  lines: readonly T[];
  total: number;
  idOf(one: T): string;
  columns: readonly Column<T>[];
  /** The text of an empty list. */
  none: Html | string;
}

export function listOf<T>(
  view: View,
  { filter: [parameter, label], chips, lines, total, idOf, columns, none }: List<T>,
): Html {
  const shown = view.url.searchParams.get(parameter) ?? '';
  const { page, offset } = pageOf(view, total);
  const link = (to: number, rel: string, text: string) =>
    html`<a class="button" rel="${rel}" href="${linkTo(view, { page: to })}">${text}</a>`;
  return html`<nav class="chips" aria-label="${label}">${chips.map(
    ([value, text, lines]) =>
      html`<a href="${linkTo(view, { [parameter]: value, page: undefined })}" ${value === shown && html`aria-current="true"`}>${text} <span>${count(lines)}</span></a>`,
  )}</nav>
  ${
    lines.length === 0
      ? html`<p class="card dim">${none}</p>`
      : html`<table><thead><tr>${columns.map(
          ({ name, head }) =>
            html`<th scope="col" class="${name}">${head || html`<span class="unseen">Move</span>`}</th>`,
        )}</tr></thead>
        <tbody>${lines.map(one => html`<tr id="${idOf(one)}">${columns.map(column => cell(column, one))}</tr>`)}</tbody></table>`
  }
  ${
    total > PAGE &&
    html`<nav class="row end" aria-label="Pages"><span class="dim">${offset + 1}–${Math.min(offset + PAGE, total)} of ${count(total)}</span>
    ${page > 1 && link(page - 1, 'prev', 'Newer')}${offset + PAGE < total && link(page + 1, 'next', 'Older')}</nav>`
  }`;
}

const cell = <T>({ name, cell }: Column<T>, one: T): Html => {
  const content = cell(one) ?? html`<span class="dim">–</span>`;
  return name === 'name'
    ? html`<th scope="row" class="name">${content}</th>`
    : html`<td class="${name}">${content}</td>`;
};

/** A titled part of a page, or undefined to leave it out. */
type Card = readonly [title: string, content: Html | string | undefined | false];

export const cards = (all: readonly Card[]): Html =>
  html`${all.map(([title, content]) => {
    const id = title.toLowerCase().replace(/\W+/g, '-');
    return (
      content && html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`
    );
  })}`;

interface Details {
  /** The list that it belongs to. */
  list: readonly [href: string, name: string];
  id: string | number;
  heading: Html;
  /** Sentences under the heading, each in the colour of its tone. */
  verdicts: readonly (Pick<Outcome, 'tone' | 'sentence'> | undefined)[];
  left: readonly Card[];
  right: readonly Card[];
}

export const detailsOf = ({ list: [href, name], id, heading, verdicts, left, right }: Details): Html => html`
  <p class="crumbs"><a href="${href}">${name}</a> <span aria-hidden="true">/</span> <span class="mono">${id}</span></p>
  <h1>${heading}</h1>
  ${verdicts.map(one => one?.sentence && html`<p class="verdict ${one.tone}">${sent(one.sentence)}</p>`)}
  <div class="columns"><div>${cards(left)}</div><div>${cards(right)}</div></div>`;

/** Returns a short line of the latest calls and callbacks. */
export const lineOf = (outcome: Outcome, what: Html, end: Html | undefined): Html =>
  html`<li>${pill(outcome)} <span class="what">${what}</span> ${end}</li>`;

/** Returns unchanged text, with keyboard scrolling and a copy button by script. */
export const rawText = (id: string, label: string, text: string): Html =>
  html`<div class="raw"><pre id="${id}" tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>${copyButton(label)}</div>`;

/** Returns a sentence with names in backticks as HTML. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

/** Links a payment by its name. A forgotten payment has none. */
export function paymentLink({ parts }: View, id: string | undefined): Html {
  const record = parts.ledger.find(id ?? '');
  return record ? html`<a href="/payments/${record.id}">${sent(nameOf(record))}</a>` : html`<span class="dim">–</span>`;
}

/** Indents JSON for people, and returns any other text unchanged. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
