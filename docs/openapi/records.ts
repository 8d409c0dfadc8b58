// What the gateway answers and posts: the record by its status, alone or wrapped, and the transfer of a PayID deposit.
import * as z from 'zod';
import { paymentSchema } from '../../src/schemas/records/payment.ts';
import { transferSchema } from '../../src/schemas/records/transfer.ts';
import { type Component, componentOf, objectsOf, render } from './component.ts';
import { type JsonSchema, refTo } from './wire.ts';

const objects = objectsOf(paymentSchema);

const isCommon = (name: string): boolean => new Set(objects.map(({ shape }) => shape[name])).size === 1;

const first = objects[0] as z.ZodObject;
const common = Object.fromEntries(Object.entries(first.shape).filter(([name]) => isCommon(name)));

const variants: Component[] = objects.map(({ shape }) => {
  const { rawPaymentStatus, ...own } = Object.fromEntries(Object.entries(shape).filter(([name]) => !isCommon(name)));
  // The SDK keeps an unknown status in a field of its own.
  if (rawPaymentStatus) own.paymentStatus = rawPaymentStatus;
  const [status = ''] = [...(shape.paymentStatus?._zod.values ?? [])].map(String);
  const name = `${status.charAt(0)}${status.slice(1).toLowerCase()}Payment`;
  return { name, schema: z.looseObject(own), bases: ['PaymentFields'] };
});

/** The components of answers and callbacks. */
export const RECORDS: Record<string, JsonSchema> = {
  Payment: {
    title: 'Payment',
    description:
      "The record of a payment, told apart by `paymentStatus`. It has no discriminator, because a status that the gateway's document does not name must stay readable. Only `id`, `paymentStatus`, `paymentType`, `amount` and `currency` are required, and every other field may be null, because the gateway's document does not promise them in each answer.",
    oneOf: variants.map(({ name }) => refTo(name)),
  },
  ...render([
    { name: 'PaymentFields', schema: z.looseObject(common) },
    ...variants,
    componentOf('Timestamp', first.shape.created),
    componentOf('Customer', first.shape.customer),
    componentOf('BillingAddress', first.shape.billingAddress),
    componentOf('Transfer', transferSchema),
  ]),
  WrappedPayment: {
    title: 'Wrapped Payment',
    description: 'The record in `result`.',
    type: 'object',
    required: ['result'],
    properties: { result: refTo('Payment') },
  },
  CreatedPayment: {
    title: 'Created Payment',
    description:
      'The record in `result`. A PayID host-to-host deposit has its transfer instructions beside it: their `amount` is text, and their `order_id` equals `result.id`.',
    allOf: [refTo('WrappedPayment'), refTo('Transfer')],
  },
};
