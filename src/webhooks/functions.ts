// The functions of a merchant's handler, and their arguments.
import type {
  AuthorizedPayment,
  CanceledPayment,
  CompletedPayment,
  FailedPayment,
  Payment,
} from '../schemas/records/payment.ts';
import { type FunctionName, WITHOUT_FUNCTION } from '../store/rules/outcomes.ts';
import type { ReviewReason } from '../telemetry/events.ts';

/** The first argument of a handler's functions. */
export interface PaymentOutcome<P extends Payment = Payment> {
  /** Your order id, as passed to `checkout`. Absent for a payment without an order. */
  order?: string | undefined;
  /** The reference of its create: for an order, that of the attempt. */
  reference: string;
  /** The gateway's own record. */
  payment: P;
}

/** The second argument of a handler's functions. */
export interface Context<Tx> {
  /** The transaction to write in, committed together with the SDK's own record of the outcome. */
  tx: Tx;
  /** Aborted at the end of the time limit. */
  signal: AbortSignal;
  /**
   * Runs `work` after the commit, at most once, such as an e-mail: your function may run again after a rollback. Only
   * `onError` gets its error.
   */
  afterCommit(work: () => unknown): void;
}

type Takes<Outcome, Tx> = ((outcome: Outcome, context: Context<Tx>) => unknown) | undefined;

/** The functions of a handler, at least one. Each runs once for its outcome, in your transaction. */
export interface Functions<Tx> {
  /** A deposit is COMPLETED with the requested amount and currency, and is the first to pay its order or reference. */
  onPaid?: Takes<PaymentOutcome<CompletedPayment>, Tx>;
  /** A deposit is AUTHORIZED. */
  onAuthorized?: Takes<PaymentOutcome<AuthorizedPayment>, Tx>;
  /** A deposit is FAILED or CANCELED, and had not paid. */
  onDeclined?: Takes<PaymentOutcome<FailedPayment | CanceledPayment>, Tx>;
  /** A deposit that had paid is FAILED or CANCELED: a chargeback, or a correction of the gateway. */
  onReversed?: Takes<PaymentOutcome<FailedPayment | CanceledPayment>, Tx>;
  /** A withdrawal is COMPLETED with the requested amount and currency. */
  onPaidOut?: Takes<PaymentOutcome<CompletedPayment>, Tx>;
  /** A withdrawal is FAILED or CANCELED. `wasPaidOut`: it had been COMPLETED before. */
  onPayoutFailed?: Takes<PaymentOutcome<FailedPayment | CanceledPayment> & { wasPaidOut: boolean }, Tx>;
  /**
   * A person must check a payment or refused payout: `reason` names the case. `gateway.reviews()` lists it too, and
   * `effect_uncertain` only there.
   */
  onReview?: Takes<ReviewOutcome, Tx>;
  /** Runs for every status that differs from the last one, before the function of its outcome. */
  onPayment?: Takes<Payment, Tx>;
}

/** The first argument of `onReview`. A refused payout has no payment. */
interface ReviewOutcome {
  order?: string | undefined;
  reference?: string | undefined;
  payment?: Payment | undefined;
  reason: ReviewReason;
}

export const FUNCTIONS = [...(Object.keys(WITHOUT_FUNCTION) as FunctionName[]), 'onReview', 'onPayment'] as const;
