// Checks the requests of the client's methods at run time.
import type * as z from 'zod';
import { InvalidRequestError, issuesOf } from '../errors.ts';
import { decimalsProblem } from './amount.ts';
import { isJsonMap } from './json.ts';
import type { PaymentType, Terminal } from './methods.ts';
import type { NftPurchaseRequest, OnrampPayment, PaymentRequest } from './request.ts';
import {
  createPaymentSchema,
  depositSchema,
  nftPurchaseSchema,
  onrampTerminalDepositSchema,
  onrampTerminalPaymentSchema,
  REQUEST_FIELDS,
  withdrawalSchema,
} from './request-schema.ts';

/** A request that the schemas have checked. */
export type CheckedRequest = PaymentRequest | OnrampPayment | (NftPurchaseRequest & { paymentType: 'DEPOSIT' });

/** The client's methods. */
export type RequestKind = 'deposit' | 'withdrawal' | 'nftPurchase' | 'payment';

const ANY_TERMINAL = { withdrawal: withdrawalSchema, nftPurchase: nftPurchaseSchema };
const SCHEMAS: Record<Terminal, Record<RequestKind, z.ZodType<CheckedRequest>>> = {
  standard: { ...ANY_TERMINAL, deposit: depositSchema, payment: createPaymentSchema },
  onramp: { ...ANY_TERMINAL, deposit: onrampTerminalDepositSchema, payment: onrampTerminalPaymentSchema },
};

/** The type that a method adds. A request that names another type is refused. */
const TYPES: Partial<Record<RequestKind, PaymentType>> = {
  deposit: 'DEPOSIT',
  withdrawal: 'WITHDRAWAL',
  nftPurchase: 'DEPOSIT',
};

/**
 * @param webhookUrl for a request without an address
 * @throws {InvalidRequestError} naming every field that is wrong
 */
export function parseRequest(
  kind: RequestKind,
  terminal: Terminal,
  input: unknown,
  webhookUrl?: string,
): CheckedRequest {
  const schema = SCHEMAS[terminal][kind];
  let checked: z.ZodSafeParseResult<CheckedRequest>;
  try {
    checked = schema.safeParse(isJsonMap(input) ? completed(kind, input, webhookUrl) : input);
  } catch {
    // The thrown value may contain anything.
    const message = 'a field cannot be read: its getter throws';
    throw new InvalidRequestError([{ path: '', message }], 'not_sent');
  }
  if (!checked.success) throw new InvalidRequestError(issuesOf(checked.error), 'not_sent');
  const { amount, currency } = checked.data;
  const message = decimalsProblem(amount, currency);
  if (message) throw new InvalidRequestError([{ path: 'amount', message }], 'not_sent');
  return checked.data;
}

function completed(kind: RequestKind, input: object, webhookUrl: string | undefined): object {
  // A class may inherit its fields, such as getters.
  const inherited = [...REQUEST_FIELDS].filter(name => name in input && !Object.hasOwn(input, name));
  const fields: Partial<Record<string, unknown>> = {
    ...Object.fromEntries(inherited.map(name => [name, input[name as never]])),
    ...input,
  };
  return {
    ...fields,
    ...(fields.paymentType === undefined && { paymentType: TYPES[kind] }),
    ...((fields.webhookUrl ?? fields.callbackUrl) == null && webhookUrl && { webhookUrl }),
  };
}
