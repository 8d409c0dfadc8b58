// Checks the requests of the client's methods at run time.
import type * as z from 'zod';
import { InvalidRequestError, issuesOf } from '../../errors.ts';
import { decimalsProblem } from '../amount.ts';
import { isJsonMap } from '../json.ts';
import type { PaymentType, Terminal } from '../methods.ts';
import type { NftPurchaseRequest, OnrampPayment, PaymentRequest } from './request.ts';
import {
  createPaymentSchema,
  depositSchema,
  nftPurchaseSchema,
  onrampTerminalDepositSchema,
  onrampTerminalPaymentSchema,
  REQUEST_FIELDS,
  withdrawalSchema,
} from './schema.ts';

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
  const { success, data, error } = schema.safeParse(isJsonMap(input) ? completed(kind, input, webhookUrl) : input);
  if (!success) throw new InvalidRequestError(issuesOf(error), 'not_sent');
  const message = decimalsProblem(data.amount, data.currency);
  if (message) throw new InvalidRequestError([{ path: 'amount', message }], 'not_sent');
  return data;
}

function completed(kind: RequestKind, input: Partial<PaymentRequest>, defaultUrl: string | undefined): object {
  // A class may inherit its fields, such as getters.
  const names = [...REQUEST_FIELDS].filter(name => name in input);
  const fields = Object.fromEntries(names.map(name => [name, input[name as keyof typeof input]]));
  const { paymentType = TYPES[kind], webhookUrl, callbackUrl } = input;
  const address = (webhookUrl ?? callbackUrl) == null ? defaultUrl : webhookUrl;
  return { ...fields, ...input, paymentType, webhookUrl: address };
}
