// The transfer instructions for the customer of a PayID deposit.
import { uuidOf } from './ids.ts';
import type { PaymentRecord } from './record.ts';

export const transferOf = ({ id, amount, currency }: PaymentRecord) => ({
  number: `pay-${id.slice(0, 8)}@sandbox.example`,
  full_holder_name: 'Sandbox Payments Pty Ltd',
  payment_description: id.slice(0, 8).toUpperCase(),
  // Rounds like PHP's `number_format`: half up, by the decimal digits.
  amount: amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping: false }),
  currency,
  uuid: uuidOf(`transfer of ${id}`),
  order_id: id,
});
