// The routes for payments and their callbacks.
import * as z from 'zod';
import { withTimeout } from '../../deadline.ts';
import { PAYMENT_STATUSES } from '../../schemas/methods.ts';
import { type MoveName, move, moveFields } from '../ledger/moves.ts';
import type { PaymentRecord } from '../ledger/record.ts';
import type { SandboxEvent } from '../log/events.ts';
import { SandboxError } from '../sandbox-error.ts';
import { wait } from '../text/duration.ts';
import { route } from './define.ts';
import { waitFields, waitFor } from './wait-for.ts';

const text = z.string().optional();
export const whole = z.coerce.number().int().min(0);
export const flagText = z.enum(['true', 'false']).transform(given => given === 'true');

const paging = {
  limit: whole.max(1_000).default(50).describe('The size of a page.'),
  offset: whole.default(0).describe('The number to skip.'),
};

const timeout = wait.describe('The longest wait, at most 10m.');

export const listQuery = z.strictObject({ paymentId: text, ...paging });

/** Returns a page, the newest first, and the number on all pages. */
export function pageOf<T extends { paymentId?: string | undefined }>(
  all: readonly T[],
  { paymentId, limit, offset }: z.output<typeof listQuery>,
) {
  const found = all.filter(one => paymentId === undefined || one.paymentId === paymentId.toLowerCase()).reverse();
  return [found.slice(offset, offset + limit), found.length] as const;
}

const moveTo = <N extends MoveName>(name: N) =>
  z.strictObject({ move: z.literal(name).describe('Where to.'), ...moveFields[name] });
const moves = z.discriminatedUnion('move', [moveTo('complete'), moveTo('authorize'), moveTo('cancel'), moveTo('fail')]);

export interface ShownPayment {
  payment: PaymentRecord;
  /** The merchant's request. */
  request: object;
  /** The payment's own address for callbacks. */
  callbackUrl: string;
  /** The address that they are posted to, if it is another one. */
  postedTo?: string | undefined;
  /** The events of the payment, the oldest first. */
  timeline: readonly SandboxEvent[];
}

export const PAYMENT_ROUTES = [
  route('GET /payments', 'listPayments', 'The payments, the newest first.', {
    fields: z.strictObject({
      search: text.describe("A part of the id, reference, description, method, amount or the customer's email."),
      paymentStatus: z.enum(PAYMENT_STATUSES).optional(),
      reference: text.describe('The whole of it.'),
      ...paging,
    }),
    run: ({ ledger }, { limit, offset, ...wanted }) => {
      const found = ledger.search(wanted);
      return { payments: found.slice(offset, offset + limit), total: found.length };
    },
  }),
  route('GET /payments/:id', 'getPayment', 'A payment, what the merchant asked for, and what happened to it.', {
    run: ({ ledger, log }, _, { id }): ShownPayment => {
      const [payment] = ledger.named(id);
      const { request, callbackUrl, postedTo } = ledger.detailsOf(payment.id);
      const elsewhere = postedTo === callbackUrl ? undefined : postedTo;
      return { payment, request, callbackUrl, postedTo: elsewhere, timeline: log.timeline(payment.id) };
    },
  }),
  route('POST /payments/:id/moves', 'movePayment', 'Moves a payment, and posts its callback.', {
    fields: moves,
    run: (parts, { move: name, ...options }, { id }) => move(parts, parts.ledger.only(id).id, name, options),
  }),
  route('GET /wait', 'waitForPayment', 'Waits until a payment has the given state.', {
    fields: z.strictObject({
      ...waitFields,
      isAnswered: flagText.optional().describe('Whether the callback of its state must have been answered with 2xx.'),
      timeout,
    }),
    run: waitFor,
  }),
  route('GET /deliveries', 'listDeliveries', 'The deliveries of callbacks, the newest first.', {
    fields: listQuery,
    run: ({ log }, query) => {
      const [deliveries, total] = pageOf(log.deliveries, query);
      return { deliveries, total };
    },
  }),
  route('POST /deliveries/:id/redeliver', 'redeliver', 'Posts a callback again, and waits for its answer.', {
    fields: z.strictObject({ body: text.describe('Posted in place of its body.') }),
    run: ({ callbacks }, body, { id }) => callbacks.redeliver(Number(id), body),
  }),
  route('GET /idle', 'waitUntilIdle', 'Waits until no callback is running or delayed.', {
    fields: z.strictObject({ timeout }),
    run: async ({ callbacks, log }, { timeout }) => {
      await withTimeout(callbacks.idle(), timeout, () => {
        throw new SandboxError('timeout', `Callbacks are still running after ${timeout} ms.`);
      });
      return {
        /** The number of deliveries. */
        deliveries: log.deliveries.length,
      };
    },
  }),
];
