// Tells a repeated request from another one under the same reference.
import { DuplicateReferenceError } from '../errors.ts';
import type { JournalKey, JournalRequest, JournalRow } from './contract.ts';
import { UNSEEN } from './fingerprint.ts';

const FIELDS = ['paymentType', 'paymentMethod', 'amount', 'currency'] as const;

/** That request is not known, only what its payment shows: a customer may have chosen the method, and a number is not a text. */
const mayDiffer = (field: (typeof FIELDS)[number], row: JournalRequest, request: JournalRequest): boolean =>
  field === 'paymentMethod' || (field === 'amount' && Number(row.amount) === Number(request.amount));

/** @throws {DuplicateReferenceError} unless both are the same request */
export function expectSameRequest(row: JournalRow, request: JournalRequest & Pick<JournalKey, 'reference'>): void {
  const { state, paymentId } = row;
  if (row.bodyHash === request.bodyHash || state === 'freed') return;
  const differing = FIELDS.filter(field => row[field].toUpperCase() !== request[field].toUpperCase());
  if (row.bodyHash === UNSEEN && differing.every(field => mayDiffer(field, row, request))) return;
  const differences = differing.length > 0 ? differing : ['other fields'];
  throw new DuplicateReferenceError(request.reference, differences, state, { paymentId });
}
