// The transfer instructions of a PayID deposit: how the customer is to send the money.
import { uuidOf } from './ids.ts';
import type { PaymentRecord } from './record.ts';

/** As PHP's `number_format` rounds: a half up, and by the digits that are written rather than by the double behind them. */
const twoDecimals = (amount: number): string =>
  amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping: false });

/** In the names of the wire. */
export const transferOf = ({ id, amount, currency }: PaymentRecord) => ({
  number: `pay-${id.slice(0, 8)}@sandbox.example`,
  full_holder_name: 'Sandbox Payments Pty Ltd',
  payment_description: id.slice(0, 8).toUpperCase(),
  amount: twoDecimals(amount),
  currency,
  uuid: uuidOf(`transfer of ${id}`),
  order_id: id,
});
