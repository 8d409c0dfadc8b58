// The ends of a payment: the buttons of the test controls, and their moves.
import type { MoveName } from '../../ledger/moves.ts';
import type { FailureReason } from '../../ledger/record.ts';

interface End {
  button: string;
  /** Absent if the payment stays open. */
  move?: MoveName;
  reason?: FailureReason;
}

const failed = (button: string, reason: FailureReason): End => ({ button, move: 'fail', reason });

/** The ends by the value of their button. */
export const ENDS: ReadonlyMap<string, End> = new Map([
  ['pay', { button: 'Complete at once', move: 'complete' }],
  ['authorize', { button: 'Authorise first', move: 'authorize' }],
  ['insufficient-balance', failed('Decline: insufficient balance', { code: 4004 })],
  ['cvv', failed('Decline: CVV error', { code: 4001 })],
  ['canceled', failed('Decline: canceled by the user', { code: 4018 })],
  ['not-funded', failed('Let it expire', { reason: 'Payment not funded' })],
  ['no-3ds', failed('Fail 3-D Secure', { reason: '3-D Secure authentication failed' })],
  ['no-identity', failed('Fail the identity check', { reason: 'Identity check failed' })],
  ['abandon', { button: 'Abandon: leave without paying' }],
]);
