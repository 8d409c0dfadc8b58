// The data and shared pieces of a payment's pages, with the forms and addresses that connect them.
import { html } from 'hono/html';
import type { AcceptedRequest, PaymentRecord } from '../../ledger/record.ts';
import type { Html } from '../layout.ts';

export interface View {
  record: PaymentRecord;
  request: AcceptedRequest;
  shopName: string;
  /** Milliseconds since 1970, by the sandbox's clock. */
  now: number;
  /** The method chosen in the on-ramp widget. */
  chosen?: string | undefined;
  /** The input of the address, or of the refused form. */
  input: URLSearchParams;
  /** The problems of the form, by field. */
  errors: Readonly<Record<string, string>>;
}

/** A face of the page: the customer's view of one family of methods. */
export interface Face {
  draw(view: View): Drawn;
  /** Whether a payment can be authorised first and captured later. */
  isAuthorizable?: boolean;
  /** The list in the test controls: numbers and codes with a special outcome. */
  tests?(view: View): Html;
}

export interface Drawn {
  body: Html;
  /** The name of another site, such as the customer's bank. Its page lacks the shop's frame. */
  site?: string;
}

/** Returns `PIX` for `ONRAMP_PIX`. */
const plainMethod = (method: string): string => method.replace(/^ONRAMP_/, '');

/** Returns the chosen method, or the payment's method. */
export const methodOf = ({ record, chosen }: View): string => plainMethod(chosen ?? record.paymentMethod);

/** Returns the address of another step of the same payment. */
export function addressOf({ record, chosen }: View, step: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...(chosen && { method: chosen }), ...step }).toString();
  return `/pay/${record.id}${query && `?${query}`}`;
}

/** Returns a form that acts on the payment. With `get` it leads to the next step. */
export const formOf = ({ record, chosen }: View, content: Html, method: 'get' | 'post' = 'post'): Html =>
  html`<form method="${method}" action="/pay/${record.id}" class="form" novalidate>
    ${chosen && html`<input type="hidden" name="method" value="${chosen}">`}${content}
  </form>`;

/** Returns the main button of a page. */
export const mainButton = (label: string | Html, act = 'pay'): Html =>
  html`<button class="main" name="act" value="${act}">${label}</button>`;

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
  /** Attributes of the input, written by the page's author. */
  attributes?: Readonly<Record<string, string>>;
}

/** Returns a text field with its hint and its problem. */
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

/** Returns rows to read, each with a copy button. The script shows the buttons. */
export const copyRows = (rows: readonly (readonly [label: string, shown: string, copied?: string])[]): Html =>
  html`<dl class="copies">${rows.map(
    ([label, shown, copied = shown]) => html`<div>
      <dt>${label}</dt><dd><bdi class="${shown.length > 40 ? 'lengthy' : ''}">${shown}</bdi>
      <button type="button" class="copy" data-copy="${copied}" aria-label="Copy ${label.toLowerCase()}" hidden>Copy</button></dd>
    </div>`,
  )}</dl>`;

/** Returns rows of names and values, without empty ones. */
export function rows(entries: Record<string, Html | string | null | undefined | false>): Html | undefined {
  const given = Object.entries(entries).filter(([, value]) => value);
  if (given.length === 0) return undefined;
  return html`<dl class="rows">${given.map(
    ([name, value]) =>
      html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? html`<bdi>${value}</bdi>` : value}</dd></div>`,
  )}</dl>`;
}

export const isChoosing = ({ paymentMethod }: PaymentRecord): boolean =>
  paymentMethod === 'ONRAMP' || paymentMethod === 'USER_CHOICE';

/** Returns digits that are the same for a payment in every run. */
export function digitsOf(id: string, count: number): string {
  const number = BigInt(`0x${id.replaceAll('-', '')}`) % 10n ** BigInt(count);
  return String(number).padStart(count, '0');
}
