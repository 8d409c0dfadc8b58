// The data and shared pieces of the dashboard's pages.
import { html } from 'hono/html';
import type { Parts } from '../../parts.ts';
import type { Html } from '../layout.ts';

export interface View {
  parts: Parts;
  /** Milliseconds since 1970, by the sandbox's clock. */
  now: number;
  url: URL;
}

/** Returns the same address with changed parameters. Empty ones are left out. */
export function linkTo({ url }: View, changes: Record<string, string | number | undefined>): string {
  const all = { ...Object.fromEntries(url.searchParams), done: undefined, of: undefined, ...changes };
  const given = Object.entries(all).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])));
  return search.size > 0 ? `${url.pathname}?${search}` : url.pathname;
}

/** Returns the page's address with its filters, but without its notice. */
const hereOf = (view: View): string => linkTo(view, {});

/** Returns a form with buttons that lead back to this page. With a script they do not leave it. */
export const formOf = (view: View, action: string, content: Html, className = ''): Html =>
  html`<form method="post" action="${action}" class="${className}" data-quiet><input type="hidden" name="back" value="${hereOf(view)}">${content}</form>`;

/** Lines per page of a list. */
export const PAGE = 50;

/** Returns the requested page of a list, within its limits. */
export function pageOf({ url }: View, total: number): { page: number; pages: number; offset: number } {
  const pages = Math.max(Math.ceil(total / PAGE), 1);
  const wanted = Number.parseInt(url.searchParams.get('page') ?? '1', 10) || 1;
  const page = Math.min(Math.max(wanted, 1), pages);
  return { page, pages, offset: (page - 1) * PAGE };
}

export function pager(view: View, total: number): Html | string {
  const { page, pages, offset } = pageOf(view, total);
  if (pages === 1) return '';
  return html`<nav class="pager" aria-label="Pages">
    <span>${offset + 1}–${Math.min(offset + PAGE, total)} of ${total.toLocaleString('en')}</span>
    ${page > 1 ? html`<a class="button" rel="prev" href="${linkTo(view, { page: page - 1 })}">Newer</a>` : ''}
    ${page < pages ? html`<a class="button" rel="next" href="${linkTo(view, { page: page + 1 })}">Older</a>` : ''}
  </nav>`;
}

/** The filters of a list. The empty name means all. */
export type Filters<T> = Readonly<Record<string, { label: string; fits(one: T): boolean }>>;

/** Filters and pages a list. @param label the subject of the filters */
export function filtered<T>(view: View, all: readonly T[], filters: Filters<T>, label: string) {
  const asked = view.url.searchParams.get('show') ?? '';
  const wanted = Object.hasOwn(filters, asked) ? asked : '';
  const found = all.filter(one => filters[wanted]?.fits(one));
  const { offset } = pageOf(view, found.length);
  const chips = Object.entries(filters).map(
    ([show, { label, fits }]) =>
      html`<a class="chip" href="${linkTo(view, { show, page: undefined })}" ${show === wanted ? html`aria-current="true"` : ''}>${label} <span>${all.filter(fits).length}</span></a>`,
  );
  return {
    shown: found.slice(offset, offset + PAGE),
    chips: html`<nav class="chips" aria-label="${label}">${chips}</nav>`,
    pager: pager(view, found.length),
  };
}

/** Returns unchanged text, with keyboard scrolling and a copy button by script. */
export const rawText = (id: string, label: string, text: string): Html =>
  html`<div class="raw"><pre id="${id}" tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre><button type="button" class="small" data-copy="${id}" aria-label="Copy: ${label}" hidden>Copy</button></div>`;

/** Returns text from a merchant, in its own writing direction. */
export const sent = (text: string): Html => html`<bdi>${text}</bdi>`;

/** Returns a sentence with names in backticks as HTML. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
