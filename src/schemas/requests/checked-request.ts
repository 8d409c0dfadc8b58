// Checks a request of the client at run time.
import type * as z from 'zod';
import { InvalidRequestError, issuesOf } from '../../errors.ts';
import { decimalsProblem } from '../amount.ts';
import { isJsonMap } from '../json.ts';
import type { Terminal } from '../methods.ts';
import type { NftPurchaseRequest, OnrampDeposit, PaymentRequest } from './request.ts';
import { REQUEST_FIELDS, SCHEMAS } from './schema.ts';

export type CheckedRequest = PaymentRequest | ((OnrampDeposit | NftPurchaseRequest) & { paymentType: 'DEPOSIT' });

/** The type that each method of the client requires. */
const TYPES = { deposit: 'DEPOSIT', withdrawal: 'WITHDRAWAL', nftPurchase: 'DEPOSIT', payment: undefined };

export type RequestKind = keyof typeof TYPES;

interface Client {
  terminal: Terminal;
  /** For a request without an address. */
  webhookUrl?: string | undefined;
}

/** @param own fields to set @throws {InvalidRequestError} with every wrong field, before anything is written */
export function checkRequest(client: Client, kind: RequestKind, input: unknown, own: object = {}): CheckedRequest {
  const given = Object(input);
  // A class may inherit its fields, such as getters.
  const inherited = Object.fromEntries(REQUEST_FIELDS.filter(name => name in given).map(name => [name, given[name]]));
  const { paymentType = TYPES[kind], webhookUrl, callbackUrl } = given;
  const address = (webhookUrl ?? callbackUrl) == null ? client.webhookUrl : webhookUrl;
  const completed = { ...inherited, ...given, ...own, paymentType, webhookUrl: address };
  const schema: z.ZodType<CheckedRequest> = SCHEMAS[client.terminal][kind];
  const { success, data, error } = schema.safeParse(isJsonMap(input) ? completed : input);
  if (!success) throw new InvalidRequestError(issuesOf(error), 'not_sent');
  const message = decimalsProblem(data.amount, data.currency);
  if (message) throw new InvalidRequestError([{ path: 'amount', message }], 'not_sent');
  return data;
}
