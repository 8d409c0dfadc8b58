// Checks the requests of the client's methods at run time.
import type * as z from 'zod';
import { InvalidRequestError, issuesOf } from '../../errors.ts';
import { decimalsProblem } from '../amount.ts';
import { isJsonMap } from '../json.ts';
import type { Terminal } from '../methods.ts';
import type { NftPurchaseRequest, OnrampDeposit, PaymentRequest } from './request.ts';
import { REQUEST_FIELDS, REQUESTS } from './schema.ts';

export type CheckedRequest = PaymentRequest | ((OnrampDeposit | NftPurchaseRequest) & { paymentType: 'DEPOSIT' });

export type RequestKind = keyof typeof REQUESTS;

interface Client {
  terminal: Terminal;
  /** For a request that has no address. */
  webhookUrl?: string | undefined;
}

/** @param own fields to set @throws {InvalidRequestError} naming every wrong field, before anything is written or sent */
export function checkRequest(client: Client, kind: RequestKind, input: unknown, own: object = {}): CheckedRequest {
  const given = Object(input);
  // A class may inherit its fields, such as getters.
  const inherited = Object.fromEntries(REQUEST_FIELDS.map(name => [name, given[name]]));
  const { paymentType = REQUESTS[kind].paymentType, webhookUrl, callbackUrl } = given;
  const address = (webhookUrl ?? callbackUrl) == null ? client.webhookUrl : webhookUrl;
  const completed = { ...inherited, ...given, ...own, paymentType, webhookUrl: address };
  const schema: z.ZodType<CheckedRequest> = REQUESTS[kind][client.terminal];
  const { success, data, error } = schema.safeParse(isJsonMap(input) ? completed : input);
  if (!success) throw new InvalidRequestError(issuesOf(error), 'not_sent');
  const message = decimalsProblem(data.amount, data.currency);
  if (message) throw new InvalidRequestError([{ path: 'amount', message }], 'not_sent');
  return data;
}
