// Changes the gateway's record for a fault of creates.
import type { AcceptedRequest, PaymentRecord } from '../ledger/record.ts';
import type { CallFault } from './kinds.ts';

export function alteredBy(
  fault: CallFault | undefined,
  { reference, amount }: AcceptedRequest,
): Partial<Pick<PaymentRecord, 'reference' | 'amount'>> {
  switch (fault) {
    case 'reference-trim':
      return { reference: reference?.trim() ?? null };
    case 'reference-fold':
      return { reference: reference?.toLowerCase() ?? null };
    case 'amount-round':
      return { amount: Math.max(Math.round(amount), 1) };
    default:
      return {};
  }
}
