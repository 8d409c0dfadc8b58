// The data of a payment's page, with the forms and addresses that connect its steps.
import { html } from 'hono/html';
import { isOnramp } from '../../ledger/ledger.ts';
import type { AcceptedRequest, PaymentRecord } from '../../ledger/record.ts';
import type { Html } from '../layout.ts';
import { type Method, methodOf } from './methods.ts';

export interface View {
  record: PaymentRecord;
  request: AcceptedRequest;
  shopName: string;
  frameAncestors: readonly string[];
  /** Milliseconds since 1970, by the sandbox's clock. */
  now: number;
  /** The method chosen in the on-ramp widget. */
  chosen?: string | undefined;
  /** The input of the address, or of the refused form. */
  input: URLSearchParams;
  /** The problems of the form, by field. */
  errors: Readonly<Record<string, string>>;
}

/** Returns the chosen method, or the payment's method. */
export const methodIn = ({ record, chosen }: View): Method => methodOf(chosen ?? record.paymentMethod);

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

export const isChoosing = ({ paymentMethod }: PaymentRecord): boolean =>
  paymentMethod === 'ONRAMP' || paymentMethod === 'USER_CHOICE';

/** Whether the payment can be authorised first and captured later. */
export const isAuthorizable = (view: View): boolean => {
  const { form, banks, approval } = methodIn(view);
  return !isOnramp(view.record) && Boolean(form ?? banks ?? approval);
};
