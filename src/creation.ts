// A creation request on its way out: what may be asked for, checked, and turned into the bytes to sign and send.
import { Buffer } from 'node:buffer';
import type * as z from 'zod';
import { InvalidRequestError } from './errors.ts';
import { issuesOf } from './issues.ts';
import type { Terminal } from './schemas/methods.ts';
import {
  type Amount,
  type ApplePayFields,
  type CallbackAddress,
  createPaymentSchema,
  type Deposit,
  depositSchema,
  isRequestField,
  type NftPurchase,
  nftPurchaseSchema,
  type OnrampDepositFields,
  type OnrampTerminalDeposit,
  onrampTerminalDepositSchema,
  onrampTerminalPaymentSchema,
  type PlainDepositFields,
  type PlainNftPurchaseFields,
  type Withdrawal,
  type WithdrawalFields,
  withdrawalSchema,
} from './schemas/request.ts';
import { serialize } from './signing.ts';

// Requests without `paymentType`, for the methods whose name says it. Interfaces, so that an editor shows their names.
interface ApplePayRequest extends Omit<ApplePayFields, 'paymentType'> {}
interface PlainDepositRequest extends Omit<PlainDepositFields, 'paymentType'> {}
interface OnrampDepositRequest extends Omit<OnrampDepositFields, 'paymentType'> {}
interface PlainNftPurchaseRequest extends Omit<PlainNftPurchaseFields, 'paymentType'> {}
interface WithdrawalRequestFields extends Omit<WithdrawalFields, 'paymentType'> {}

interface Requests {
  standard: { deposit: ApplePayRequest | PlainDepositRequest; payment: Deposit | Withdrawal };
  onramp: {
    deposit: ApplePayRequest | PlainDepositRequest | OnrampDepositRequest;
    payment: OnrampTerminalDeposit | Withdrawal;
  };
}

/** What `createDeposit` takes on a terminal of that kind. */
export type DepositRequest<T extends Terminal = 'standard'> = Requests[T]['deposit'] & CallbackAddress;
/** What `createPayment` takes on a terminal of that kind. */
export type PaymentRequest<T extends Terminal = 'standard'> = Requests[T]['payment'];
/** What `createWithdrawal` takes. */
export type WithdrawalRequest = WithdrawalRequestFields & CallbackAddress;
/** What `createNftPurchase` takes. */
export type NftPurchaseRequest = (ApplePayRequest | PlainNftPurchaseRequest) & CallbackAddress;

/** Lets the compiler refuse an amount that is written down and cannot be one. */
export interface Positive<A extends Amount> {
  /** Units of `currency`, not cents; greater than 0. A string such as `'25.50'` keeps its digits. */
  amount: `${A}` extends Zero | `-${string}`
    ? 'amount must be greater than 0'
    : `${A}` extends `${number}`
      ? `${A}` extends `${string}e${string}`
        ? 'amount must be a plain decimal, without exponent'
        : A
      : string extends A
        ? A
        : 'amount must be a plain decimal such as "25.50"';
}

type Zero = '0' | '0.0' | '0.00' | '0.000';

type Creation = Requests['onramp']['payment'] | NftPurchase;
export type CreationSchema = z.ZodType<Creation>;

/** The schemas of what each kind of terminal can create. */
export const CREATABLE = {
  standard: { deposit: depositSchema, payment: createPaymentSchema },
  onramp: { deposit: onrampTerminalDepositSchema, payment: onrampTerminalPaymentSchema },
} satisfies Record<Terminal, Record<string, CreationSchema>>;

export { nftPurchaseSchema, withdrawalSchema };

/**
 * @param paymentType that of the method called; a request that brings another is refused
 * @throws {InvalidRequestError} naming every field that is wrong
 */
export function check(
  schema: CreationSchema,
  request: unknown,
  paymentType?: Creation['paymentType'],
): Creation {
  const { success, data, error } = parsed(schema, request, paymentType);
  if (!success) throw new InvalidRequestError(issuesOf(error), 'not_sent');
  return data;
}

/** A getter may throw, and its words may hold anything. */
function parsed(
  schema: CreationSchema,
  request: unknown,
  paymentType?: string,
): ReturnType<CreationSchema['safeParse']> {
  try {
    return schema.safeParse(paymentType ? { paymentType, ...(request as object) } : request);
  } catch {
    throw new InvalidRequestError(
      [{ path: '', message: 'a field cannot be read: its getter throws' }],
      'not_sent',
    );
  }
}

/**
 * The bytes to sign and send.
 *
 * @throws {InvalidRequestError} if `extra` repeats a field of the request, a value has no JSON, or a text holds half a
 * character, which PHP cannot read
 */
export function bodyOf(creation: Creation, extra: object = {}): Uint8Array {
  const repeated = Object.keys(extra).filter(isRequestField);
  if (repeated.length > 0) {
    const issues = repeated.map(name => ({
      path: `extra.${name}`,
      message: 'belongs into the request itself',
    }));
    throw new InvalidRequestError(issues, 'not_sent');
  }
  const body = serialized(creation, extra);
  if (HALF_CHARACTER.test(body)) {
    const message =
      'a text holds half a character (a lone surrogate), as cutting an emoji in two leaves behind';
    throw new InvalidRequestError([{ path: '', message }], 'not_sent');
  }
  return Buffer.from(body);
}

/** How JSON.stringify writes one; an even number of backslashes before it is text of the merchant's. */
const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

function serialized(creation: Creation, extra: object): string {
  try {
    return serialize(creation, extra);
  } catch {
    const message = 'a value has no JSON: a BigInt, or an object that holds itself';
    throw new InvalidRequestError([{ path: '', message }], 'not_sent');
  }
}
