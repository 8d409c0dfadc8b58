// What the client's methods take, by the names that merchants use, and its check at run time.
import { InvalidRequestError, issuesOf } from '../errors.ts';
import { fieldsOf } from './fields.ts';
import { isJsonMap } from './json.ts';
import type { OnrampMethod, PaymentType, Terminal, WithdrawalMethod } from './methods.ts';
import type { RequestSchemaOf } from './objects.ts';
import {
  type ApplePayRequest,
  type CallbackAddress,
  createPaymentSchema,
  type Deposit,
  depositSchema,
  type NftPurchase,
  nftPurchaseSchema,
  type OnrampTerminalDeposit,
  onrampTerminalDepositSchema,
  onrampTerminalPaymentSchema,
  type PlainDepositRequest,
  type PlainNftPurchaseRequest,
  REQUEST_FIELDS,
  type RequestBy,
  type Withdrawal,
  withdrawalSchema,
} from './request.ts';

interface DepositRequests {
  standard: (ApplePayRequest | PlainDepositRequest) & CallbackAddress;
  onramp: (ApplePayRequest | PlainDepositRequest | RequestBy<OnrampMethod>) & CallbackAddress;
}
interface PaymentRequests {
  standard: Deposit | Withdrawal;
  onramp: OnrampTerminalDeposit | Withdrawal;
}

/**
 * What `createDeposit` takes on a terminal of that kind: an {@link ApplePayRequest} or a {@link PlainDepositRequest}, and on
 * `onramp` also a {@link RequestBy} one of the {@link OnrampMethod}s; each with a {@link CallbackAddress}.
 */
export type DepositRequest<T extends Terminal = 'standard'> = DepositRequests[T];
/**
 * What `createPayment` takes on a terminal of that kind: a {@link Deposit}, on `onramp` an {@link OnrampTerminalDeposit}, or
 * a {@link Withdrawal}.
 */
export type PaymentRequest<T extends Terminal = 'standard'> = PaymentRequests[T];
/** What `createWithdrawal` takes. */
export type WithdrawalRequest = RequestBy<WithdrawalMethod> & CallbackAddress;
/** What `createNftPurchase` takes. */
export type NftPurchaseRequest = (ApplePayRequest | PlainNftPurchaseRequest) & CallbackAddress;

/** Which of the client's methods was called. */
export type RequestKind = 'deposit' | 'withdrawal' | 'nftPurchase' | 'payment';

/** A request that the schemas have checked. */
export type CheckedRequest = OnrampTerminalDeposit | NftPurchase | Withdrawal;

type RequestSchema = RequestSchemaOf<CheckedRequest>;

const ANY_TERMINAL = { withdrawal: withdrawalSchema, nftPurchase: nftPurchaseSchema };
const SCHEMAS: Record<Terminal, Record<RequestKind, RequestSchema>> = {
  standard: { ...ANY_TERMINAL, deposit: depositSchema, payment: createPaymentSchema },
  onramp: { ...ANY_TERMINAL, deposit: onrampTerminalDepositSchema, payment: onrampTerminalPaymentSchema },
};

/** The methods whose name says the type add it; a request that says another is refused. */
const TYPES: Record<RequestKind, { paymentType?: PaymentType }> = {
  deposit: { paymentType: 'DEPOSIT' },
  withdrawal: { paymentType: 'WITHDRAWAL' },
  nftPurchase: { paymentType: 'DEPOSIT' },
  payment: {},
};

/** @throws {InvalidRequestError} naming every field that is wrong */
export function parseRequest(kind: RequestKind, terminal: Terminal, input: unknown): CheckedRequest {
  const { success, data, error } = safeParse(SCHEMAS[terminal][kind], TYPES[kind], input);
  if (!success) throw new InvalidRequestError(issuesOf(error), 'not_sent');
  return data;
}

function safeParse(schema: RequestSchema, type: object, input: unknown) {
  try {
    const fields = fieldsOf(input, REQUEST_FIELDS);
    return schema.safeParse(isJsonMap(fields) ? { ...type, ...fields } : fields);
  } catch {
    // What a getter throws may hold anything.
    const message = 'a field cannot be read: its getter throws';
    throw new InvalidRequestError([{ path: '', message }], 'not_sent');
  }
}
