// Tells a repeated request from another one under the same reference.
import { DuplicateReferenceError } from '../errors.ts';
import type { JournalKey, JournalRequest, JournalRow } from './contract.ts';
import { UNSEEN } from './fingerprint.ts';

const FIELDS = ['paymentType', 'paymentMethod', 'amount', 'currency'] as const;

/** @throws {DuplicateReferenceError} unless both are the same request */
export function refuseAnother(row: JournalRow, request: JournalRequest & Pick<JournalKey, 'reference'>): void {
  const { state, paymentId } = row;
  if (row.bodyHash === request.bodyHash || state === 'freed') return;
  const differing = FIELDS.filter(field => row[field].toUpperCase() !== request[field].toUpperCase());
  // That request is not known, only what its payment shows. A customer may have chosen the method.
  if (row.bodyHash === UNSEEN && differing.every(field => field === 'paymentMethod')) return;
  const differences = differing.length > 0 ? differing : ['other fields'];
  throw new DuplicateReferenceError(request.reference, differences, state, { paymentId });
}
