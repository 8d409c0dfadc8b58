// The ends of a payment, by the buttons of the test controls.
import type { MoveName } from '../../ledger/moves.ts';
import type { FailureReason } from '../../ledger/record.ts';

/** Without a move the payment stays open. */
export const ENDS = new Map<string, readonly [button: string, move?: MoveName, reason?: FailureReason]>([
  ['pay', ['Complete at once', 'complete']],
  ['authorize', ['Authorise first', 'authorize']],
  ['insufficient-balance', ['Decline: insufficient balance', 'fail', { code: 4004 }]],
  ['cvv', ['Decline: CVV error', 'fail', { code: 4001 }]],
  ['canceled', ['Decline: canceled by the user', 'fail', { code: 4018 }]],
  ['not-funded', ['Let it expire', 'fail', { reason: 'Payment not funded' }]],
  ['no-3ds', ['Fail 3-D Secure', 'fail', { reason: '3-D Secure authentication failed' }]],
  ['no-identity', ['Fail the identity check', 'fail', { reason: 'Identity check failed' }]],
  ['abandon', ['Abandon: leave without paying']],
]);
