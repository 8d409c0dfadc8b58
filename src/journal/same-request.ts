// Distinguishes a repeated request from a different request with the same reference.
import { DuplicateReferenceError } from '../errors.ts';
import type { JournalKey, JournalRequest, JournalRow } from './contract.ts';
import { UNSEEN } from './fingerprint.ts';

const FIELDS = ['paymentType', 'paymentMethod', 'amount', 'currency'] as const;

/** The journal saw only the payment: its customer may have chosen the method, and its amount is a number. */
const mayDiffer = (field: (typeof FIELDS)[number], row: JournalRequest, request: JournalRequest): boolean =>
  field === 'paymentMethod' || (field === 'amount' && Number(row.amount) === Number(request.amount));

/** @throws {DuplicateReferenceError} if the requests differ */
export function expectSameRequest(row: JournalRow, request: JournalRequest & Pick<JournalKey, 'reference'>): void {
  const { state, paymentId } = row;
  if (row.bodyHash === request.bodyHash || state === 'freed') return;
  const isUnseen = row.bodyHash === UNSEEN;
  // A gateway writes every currency in capitals.
  const asCompared = (text: string) => (isUnseen ? text.toUpperCase() : text);
  const differing = FIELDS.filter(field => asCompared(row[field]) !== asCompared(request[field]));
  if (isUnseen && differing.every(field => mayDiffer(field, row, request))) return;
  const differences = differing.length > 0 ? differing : ['other fields'];
  throw new DuplicateReferenceError(request.reference, differences, state, { paymentId });
}
