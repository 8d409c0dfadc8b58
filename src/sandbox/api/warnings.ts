// Warns about a create that the sandbox accepts, but that a processor would probably refuse.
import { decimalsOf } from '../../schemas/amount.ts';
import { unknownNames } from '../../schemas/hints.ts';
import { REQUEST_FIELDS } from '../../schemas/requests/schema.ts';
import type { AcceptedRequest } from '../ledger/record.ts';

/** The currencies of methods that belong to one country or region. The gateway's document lists none. */
const CURRENCIES: Readonly<Record<string, readonly string[]>> = {
  BLIK: ['PLN'],
  P24: ['PLN', 'EUR'],
  IDEAL: ['EUR'],
  BANCONTACT: ['EUR'],
  EPS: ['EUR'],
  MULTIBANCO: ['EUR'],
  SEPA: ['EUR'],
  FPS: ['GBP'],
  PAYID: ['AUD'],
};

const KNOWN = Intl.supportedValuesOf('currency');

/** @param sent the request with its unknown fields */
export function warningsOf({ paymentMethod, amount, currency }: AcceptedRequest, sent: object): string[] {
  const unknown = Object.keys(sent).filter(name => !REQUEST_FIELDS.includes(name));
  const currencies = CURRENCIES[paymentMethod] ?? [currency];
  const decimals = decimalsOf(currency);
  return [
    unknown.length > 0 && `${unknownNames('field', unknown, REQUEST_FIELDS)}: ignored by the gateway.`,
    !KNOWN.includes(currency) && `currency: ${currency} is not a code of ISO 4217.`,
    !currencies.includes(currency) && `currency: ${paymentMethod} is usually paid in ${currencies.join(' or ')}.`,
    Number(amount.toFixed(decimals)) !== amount && `amount: ${currency} has ${decimals} decimals.`,
  ].filter(warning => warning !== false);
}
