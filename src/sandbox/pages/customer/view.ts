// What every page of a payment is drawn from, and the forms and addresses that lead from one to the next.
import { html } from 'hono/html';
import type { AcceptedRequest, PaymentRecord } from '../../ledger/record.ts';
import type { Html } from '../layout.ts';

export interface View {
  record: PaymentRecord;
  request: AcceptedRequest;
  shopName: string;
  /** Milliseconds since 1970, by the sandbox's clock. */
  now: number;
  /** Chosen in the on-ramp widget. */
  chosen?: string | undefined;
  /** Of the address, or of the form that was refused. */
  input: URLSearchParams;
  /** What is wrong with the form, by field. */
  errors: Readonly<Record<string, string>>;
}

/** A face of the page: what a customer of one family of methods sees. */
export interface Face {
  draw(view: View): Drawn;
  /** Whether a payment can be authorised first and captured later. */
  isAuthorizable?: boolean;
  /** What the test controls list: numbers and codes with an outcome of their own. */
  tests?(view: View): Html;
}

export interface Drawn {
  body: Html;
  /** A page of somebody else, such as the customer's bank, and what it is called: there the shop's frame is missing. */
  site?: string;
}

/** `PIX` of `ONRAMP_PIX`. */
const plainMethod = (method: string): string => method.replace(/^ONRAMP_/, '');

/** How the customer pays: the payment's method, or the one chosen. */
export const methodOf = ({ record, chosen }: View): string => plainMethod(chosen ?? record.paymentMethod);

/** The address of another step of the same payment. */
export function addressOf({ record, chosen }: View, step: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...(chosen && { method: chosen }), ...step }).toString();
  return `/pay/${record.id}${query && `?${query}`}`;
}

/** A form that acts on the payment, or, by `get`, leads to its next step. */
export const formOf = ({ record, chosen }: View, content: Html, method: 'get' | 'post' = 'post'): Html =>
  html`<form method="${method}" action="/pay/${record.id}" class="form" novalidate>
    ${chosen && html`<input type="hidden" name="method" value="${chosen}">`}${content}
  </form>`;

/** The one button that a page is for. */
export const mainButton = (label: string | Html, act = 'pay'): Html =>
  html`<button class="main" name="act" value="${act}">${label}</button>`;

/** The button of a customer who does not want to pay. */
export const cancelForm = (view: View, label: string): Html =>
  formOf(
    view,
    html`<input type="hidden" name="reason" value="canceled"><button class="second" name="act" value="decline">${label}</button>`,
  );

interface Field {
  name: string;
  label: string | Html;
  error?: string | undefined;
  value?: string | undefined;
  hint?: string | Html | undefined;
  /** Of the input, as the page's author wrote them. */
  attributes?: Readonly<Record<string, string>>;
}

/** A text field, its hint, and beside it what is wrong with it. */
export function field({ name, label, error, value = '', hint, attributes = {} }: Field): Html {
  const notes = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  const given = Object.entries({
    ...attributes,
    ...(notes && { 'aria-describedby': notes }),
    ...(error && { 'aria-invalid': 'true' }),
  });
  return html`<div class="field" id="field-${name}">
    <label for="${name}">${label}</label>
    <input id="${name}" name="${name}" value="${value}" autocomplete="off" ${given.map(([key, text]) => html` ${key}="${text}"`)}>
    ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${error && html`<p class="error" id="${name}-error">${error}</p>`}
  </div>`;
}

/** Rows to read off, each with a button that copies it; the script shows the buttons. */
export const copyRows = (rows: readonly (readonly [label: string, shown: string, copied?: string])[]): Html =>
  html`<dl class="copies">${rows.map(
    ([label, shown, copied = shown]) => html`<div>
      <dt>${label}</dt><dd><bdi class="${shown.length > 40 ? 'lengthy' : ''}">${shown}</bdi>
      <button type="button" class="copy" data-copy="${copied}" aria-label="Copy ${label.toLowerCase()}" hidden>Copy</button></dd>
    </div>`,
  )}</dl>`;

/** Rows of a name and its value; those without a value are left out. */
export function rows(entries: Record<string, Html | string | null | undefined | false>): Html | undefined {
  const given = Object.entries(entries).filter(([, value]) => value);
  if (given.length === 0) return undefined;
  return html`<dl class="rows">${given.map(
    ([name, value]) =>
      html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? html`<bdi>${value}</bdi>` : value}</dd></div>`,
  )}</dl>`;
}

/** Whether the choice of the method is the customer's. */
export const isChoosing = ({ paymentMethod }: PaymentRecord): boolean =>
  paymentMethod === 'ONRAMP' || paymentMethod === 'USER_CHOICE';

/** Digits that are the same for a payment in every run. */
export function digitsOf(id: string, count: number): string {
  const number = BigInt(`0x${id.replaceAll('-', '')}`) % 10n ** BigInt(count);
  return String(number).padStart(count, '0');
}
