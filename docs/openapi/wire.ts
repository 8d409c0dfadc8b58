// What the wire is, where the zod schemas say more, less or something else: they speak of what the SDK takes and gives.
import { PAYMENT_STATUSES } from '../../src/schemas/methods.ts';

export type JsonSchema = { [keyword: string]: unknown };

export const refTo = (component: string): JsonSchema => ({ $ref: `#/components/schemas/${component}` });

/** The gateway's dates are PHP's, which writes an empty map as an empty list. */
const orEmpty = (component: string): JsonSchema => ({
  anyOf: [
    refTo(component),
    { type: 'null' },
    {
      type: 'array',
      maxItems: 0,
      description: "An empty object as PHP writes it. The gateway's document does not show whether it comes.",
    },
  ],
});

// Without lookaheads and flags: not every language has them.
const HTTP_URL = '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$';
const ABSOLUTE_URL = '^[A-Za-z][A-Za-z0-9+.-]*:\\S+$';

/** Keywords of a component, or of a field of it, that replace those of the zod schema. */
export const WIRE: Record<string, JsonSchema> = {
  // The SDK takes text too, and writes it as a number.
  'RequestFields.amount': { type: 'number', exclusiveMinimum: 0 },
  'RequestFields.webhookUrl': { pattern: HTTP_URL },
  'RequestFields.callbackUrl': { pattern: HTTP_URL },
  'RequestFields.returnUrl': { pattern: ABSOLUTE_URL },
  'Timestamp.timezone_type': { type: ['integer', 'null'] },
  // The SDK also reads plain decimal text, which the gateway's document does not show.
  'PaymentFields.amount': { type: 'number', anyOf: undefined },
  'PaymentFields.fallbackPaymentStatus': { type: ['integer', 'null'] },
  'PaymentFields.customer': orEmpty('Customer'),
  'PaymentFields.billingAddress': orEmpty('BillingAddress'),
  // If a record shows the customer as the request gave it.
  'Customer.referenceId': { type: ['string', 'number', 'null'] },
  RequestFields: {
    description:
      "What every request can hold. The gateway's document shows what Apple Pay demands of it, and not what the other methods demand.",
  },
  AuthorizedPayment: {
    description: "Not final. The gateway's document does not show how a payment becomes so, nor what follows.",
  },
  CanceledPayment: {
    description:
      "Canceled, which payment-gateway-sdk takes as final. The gateway's document does not show how a payment becomes so.",
  },
  UnknownPayment: {
    description: "In a status that the gateway's document does not name: neither final nor paid.",
  },
  'UnknownPayment.paymentStatus': { not: { enum: PAYMENT_STATUSES }, description: 'Any other text.' },
};
