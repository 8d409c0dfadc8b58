// What the gateway answers and posts: the record by its status, alone or wrapped, and the transfer of a PayID deposit.
import * as z from 'zod';
import { PAYMENT_STATUSES } from '../../src/schemas/methods.ts';
import { paymentSchema } from '../../src/schemas/records/payment.ts';
import { transferSchema } from '../../src/schemas/records/transfer.ts';
import { membersOf } from './comments.ts';
import { type Component, componentOf, render } from './component.ts';
import { type JsonSchema, refTo } from './wire.ts';

const { schema: record } = componentOf('', paymentSchema);

/** The schemas of the fields that an interface names. */
const schemasOf = (name: string) => {
  const names = membersOf(name);
  return Object.fromEntries(Object.entries(record.shape).filter(([field]) => names.includes(field)));
};

const common = schemasOf('PaymentFields');

const variants: Component[] = [...PAYMENT_STATUSES, 'UNKNOWN'].map(status => {
  const name = `${status.charAt(0)}${status.slice(1).toLowerCase()}Payment`;
  const own = Object.entries(schemasOf(name)).filter(([field]) => !(field in common));
  // The SDK keeps an unknown status in a field of its own.
  const paymentStatus = status === 'UNKNOWN' ? z.string() : z.literal(status);
  return { name, schema: z.looseObject({ ...Object.fromEntries(own), paymentStatus }), bases: ['PaymentFields'] };
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
    componentOf('Timestamp', record.shape.created),
    componentOf('Customer', record.shape.customer),
    componentOf('BillingAddress', record.shape.billingAddress),
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
