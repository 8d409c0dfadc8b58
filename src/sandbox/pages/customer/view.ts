// The data of a payment's page, and the forms and addresses between its steps.
import type { HonoRequest } from 'hono';
import { html } from 'hono/html';
import { isOnramp } from '../../ledger/ledger.ts';
import { QUOTE_MS } from '../../ledger/rates.ts';
import type { Parts } from '../../parts.ts';
import { SandboxError } from '../../sandbox-error.ts';
import { money } from '../../text/money.ts';
import type { Html } from '../layout.ts';
import { IDENTITY, methodOf, offersOf } from './methods.ts';

export type View = ReturnType<typeof viewOf>;

/** @param input of the address, or of a form */
export function viewOf({ settings, clock, ledger }: Parts, visit: HonoRequest, input: URLSearchParams) {
  const record = ledger.get(visit.param('id') ?? '');
  const { id, paymentType, paymentMethod, currency, customer } = record;
  if (paymentType !== 'DEPOSIT')
    throw new SandboxError('unknown_payment', `Payment ${id} is a withdrawal: no customer pays it.`);
  const { request, quotedAt } = ledger.detailsOf(id);
  const now = clock.now();
  const isExpired = quotedAt !== undefined && now >= quotedAt + QUOTE_MS;
  const isChoosing = paymentMethod === 'ONRAMP' || paymentMethod === 'USER_CHOICE';
  const [chosen] = offersOf(currency).find(([value]) => isChoosing && value === input.get('method')) ?? [];
  const isAsked = isOnramp(record) && quotedAt === undefined && (chosen !== undefined || !isChoosing);
  const method = isAsked ? IDENTITY : methodOf(chosen ?? paymentMethod);
  // Chosen by the tester, or typed.
  const typed = digitsIn(input.get('test') ?? input.get(method.form?.fields[0] ?? '') ?? '');
  const [test, end = ''] = method.form?.tests.find(([value]) => digitsIn(value) === typed) ?? [];
  const takesCard = method.form?.fields.includes('number') ?? false;
  // Another number may be that of a real card.
  const isRefused = takesCard && input.get('act') === 'submit' && !test;
  const locale = LANGUAGE.exec(visit.header('accept-language') ?? '')?.[0] ?? 'en';
  const sum = money(record, locale);
  const payer = [customer?.firstName, customer?.lastName].filter(Boolean).join(' ');
  // As a header can carry it.
  const href = URL.parse(request.returnUrl ?? '')?.href;
  const shop = href && NOT_A_SHOP.test(href) ? undefined : href;
  const step = { chosen, input, isExpired, method, test, end, takesCard, isRefused };
  return { record, request, shop, quotedAt, settings, now, locale, sum, payer, ...step };
}

const LANGUAGE = /^[a-z]{2,3}(?:-(?:[a-z]{2}|\d{3}))?\b/i;

const digitsIn = (text: string) => text.replace(/[\s-]/g, '');

export function addressOf({ record, chosen }: View, step: Record<string, string> = {}) {
  const query = new URLSearchParams({ ...(chosen && { method: chosen }), ...step }).toString();
  return `/pay/${record.id}${query && `?${query}`}`;
}

/** With `get` it leads to the next step, and changes nothing. */
export const formOf = ({ record, chosen }: View, content: Html, method = 'post') =>
  html`<form method="${method}" action="/pay/${record.id}" class="form">
    ${chosen && html`<input type="hidden" name="method" value="${chosen}">`}${content}
  </form>`;

/** Schemes that run a script, or show other content than the shop's. */
const NOT_A_SHOP = /^(?:javascript|vbscript|data|file|blob|filesystem|about|view-source):/;

/** Browsers check each redirect, also of a shop under development to its other server. */
export function formTargetsOf({ shop }: View) {
  if (!shop) return [];
  const { origin, protocol } = new URL(shop);
  // A policy can name neither the host of an app nor one of IPv6.
  return [/^https?:\/\/[^[]/.test(origin) ? origin : protocol, 'http://localhost:*', 'http://127.0.0.1:*'];
}
