// The routes for payments and their callbacks.
import * as z from 'zod';
import { withTimeout } from '../../deadline.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import { LONGEST_WAIT } from '../duration.ts';
import { SandboxError } from '../sandbox-error.ts';
import { type Route, route } from './define.ts';
import { deliveryShape, eventShape, paymentShape, paymentStatus } from './shapes.ts';
import { waitFor } from './wait-for.ts';

const text = z.string().optional();
const whole = (otherwise: number, most: number) => z.coerce.number().int().min(0).max(most).default(otherwise);

const WAIT = { error: 'must be milliseconds, more than 0 and at most 600000, which is ten minutes' };
const patience = z.coerce.number(WAIT).positive(WAIT).max(LONGEST_WAIT, WAIT).default(30_000);

export const total = z.number().int().describe('How many there are on all pages.');

/** The parameters of a list's page. */
export const paging = {
  limit: whole(50, 1_000).describe('The size of a page, 50 unless said.'),
  offset: whole(0, Number.MAX_SAFE_INTEGER).describe('How many to pass over.'),
};
export const pageOf = <T>(all: readonly T[], { limit, offset }: { limit: number; offset: number }): T[] =>
  all.slice(offset, offset + limit);

const paymentDetail = z.object({
  payment: paymentShape,
  request: z.looseObject({}).describe('What the merchant asked for.'),
  callbackUrl: z.string().describe('Where its callbacks go.'),
  timeline: z.array(eventShape).describe('What happened to it, the oldest first.'),
});

const force = z.boolean().optional().describe('Also out of a final state.');
const move = z.discriminatedUnion('move', [
  z.strictObject({ move: z.enum(['complete', 'authorize', 'cancel']).describe('Where to.'), force }),
  z.strictObject({
    move: z.literal('fail').describe('Where to.'),
    code: z.union([z.number(), z.string()]).optional().describe("A processor's code, which the gateway translates."),
    reason: text.describe('A text, which passes through unchanged.'),
    force,
  }),
]);

const forgotten = z.number().int().describe('How many made way for newer ones.');

const UNKNOWN = ['unknown_payment'] as const;

export const PAYMENT_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/payments',
    name: 'listPayments',
    tag: 'Payments',
    summary: 'The payments, the newest first.',
    query: z.strictObject({
      search: text.describe("A part of the id, the reference, the description, the amount or the customer's email."),
      paymentStatus: paymentStatus.optional(),
      paymentType: z.enum(['DEPOSIT', 'WITHDRAWAL']).optional().describe('Only these.'),
      paymentMethod: text.describe('Only this method.'),
      currency: text.describe('Only this currency.'),
      reference: text.describe('The whole of it.'),
      ...paging,
    }),
    answer: z.object({
      payments: z.array(paymentShape).describe('Those of this page.'),
      total,
      forgotten,
    }),
    run: ({ ledger }, { query: { limit, offset, ...wanted } }) => {
      const { payments, total } = ledger.page(wanted, { limit, offset });
      return { payments, total, forgotten: ledger.forgotten };
    },
  }),
  route({
    method: 'get',
    path: '/payments/{id}',
    name: 'getPayment',
    tag: 'Payments',
    summary: 'A payment, what the merchant asked for, and what happened to it.',
    answer: paymentDetail,
    errors: UNKNOWN,
    run: ({ ledger, log }, { id }) => {
      const payment = ledger.get(id);
      return {
        payment,
        request: ledger.requestOf(payment.id),
        callbackUrl: ledger.callbackUrlOf(payment.id),
        timeline: log.timeline(payment.id),
      };
    },
  }),
  route({
    method: 'post',
    path: '/payments/{id}/moves',
    name: 'movePayment',
    tag: 'Payments',
    summary: 'Moves a payment to another state; its callback is then on the way.',
    body: move,
    answer: paymentShape,
    errors: ['unknown_payment', 'final_state'],
    run: (parts, { id, body: { move, ...options } }) => parts.move(id, move, options),
  }),
  route({
    method: 'get',
    path: '/wait',
    name: 'waitForPayment',
    tag: 'Payments',
    summary: 'Answers as soon as a payment is as asked for.',
    query: z.strictObject({
      paymentId: text,
      reference: text.describe('The newest payment with this reference.'),
      paymentStatus: paymentStatus.optional(),
      isAnswered: z
        .enum(['true', 'false'])
        .optional()
        .describe('Whether the callback of its state must have been answered with 2xx.'),
      timeout: patience.describe('Milliseconds.'),
    }),
    answer: paymentShape,
    errors: ['timeout', 'refused'],
    run: (parts, { query: { isAnswered, ...what } }) => waitFor(parts, { ...what, isAnswered: isAnswered === 'true' }),
  }),
  route({
    method: 'get',
    path: '/deliveries',
    name: 'listDeliveries',
    tag: 'Callbacks',
    summary: 'The deliveries of callbacks, the newest first.',
    query: z.strictObject({ paymentId: text, ...paging }),
    answer: z.object({
      deliveries: z.array(deliveryShape).describe('Those of this page.'),
      total,
      forgotten,
    }),
    run: ({ log }, { query: { paymentId, ...page } }) => {
      const found = paymentId === undefined ? log.deliveries.latest() : log.deliveriesOf(paymentId.toLowerCase());
      return { deliveries: pageOf(found, page), total: found.length, forgotten: log.deliveries.forgotten };
    },
  }),
  route({
    method: 'get',
    path: '/deliveries/{id}',
    name: 'getDelivery',
    tag: 'Callbacks',
    summary: 'One delivery.',
    answer: deliveryShape,
    errors: ['unknown_delivery'],
    run: ({ log }, { id }) => log.delivery(Number(id)),
  }),
  route({
    method: 'post',
    path: '/deliveries/{id}/redeliver',
    name: 'redeliver',
    tag: 'Callbacks',
    summary: 'Posts a callback again, as it was or with another body, and answers once it is answered.',
    body: z.strictObject({ body: text.describe('Posted in place of its body.') }),
    answer: deliveryShape,
    errors: ['unknown_delivery'],
    run: ({ callbacks }, { id, body }): Promise<Delivery> => callbacks.redeliver(Number(id), body),
  }),
  route({
    method: 'get',
    path: '/idle',
    name: 'waitUntilIdle',
    tag: 'Callbacks',
    summary: 'Answers when no callback is under way any more, and none waits for its time.',
    query: z.strictObject({ timeout: patience }),
    answer: z.object({ deliveries: z.number().int().describe('How many there are.') }),
    errors: ['timeout'],
    run: async ({ callbacks, log }, { query: { timeout } }) => {
      await withinTime(callbacks.idle(), timeout);
      return { deliveries: log.deliveries.size };
    },
  }),
];

function withinTime(idle: Promise<void>, timeout: number): Promise<void> {
  return withTimeout(idle, timeout, () => {
    throw new SandboxError('timeout', `Callbacks are still under way after ${timeout} ms.`);
  });
}
