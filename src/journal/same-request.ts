// Tells a repeated request from another one under the same reference.
import { DuplicateReferenceError } from '../errors.ts';
import type { JournalKey, JournalRequest, JournalRow } from './contract.ts';
import { UNSEEN } from './fingerprint.ts';

const FIELDS = ['paymentType', 'paymentMethod', 'amount', 'currency'] as const;

/** What was asked for is unknown, and only its payment was seen: its customer may have chosen the method, and its amount is a number. */
const mayDiffer = (field: (typeof FIELDS)[number], row: JournalRequest, request: JournalRequest): boolean =>
  field === 'paymentMethod' || (field === 'amount' && Number(row.amount) === Number(request.amount));

/** @throws {DuplicateReferenceError} unless both are the same request */
export function expectSameRequest(row: JournalRow, request: JournalRequest & Pick<JournalKey, 'reference'>): void {
  const { state, paymentId } = row;
  if (row.bodyHash === request.bodyHash || state === 'freed') return;
  const isUnseen = row.bodyHash === UNSEEN;
  // A gateway writes a currency in capitals, however it was asked for.
  const asCompared = (text: string) => (isUnseen ? text.toUpperCase() : text);
  const differing = FIELDS.filter(field => asCompared(row[field]) !== asCompared(request[field]));
  if (isUnseen && differing.every(field => mayDiffer(field, row, request))) return;
  const differences = differing.length > 0 ? differing : ['other fields'];
  throw new DuplicateReferenceError(request.reference, differences, state, { paymentId });
}
