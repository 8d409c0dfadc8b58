// Distinguishes a repeated request from a different request with the same reference.
import { DuplicateReferenceError } from '../errors.ts';
import type { JournalKey, JournalRequest, JournalRow } from './creates.ts';
import { UNSEEN } from './fingerprint.ts';

type Request = JournalRequest & Pick<JournalKey, 'reference'>;

const FIELDS = ['paymentType', 'paymentMethod', 'amount', 'currency'] as const;

/** The store saw only the payment: its customer may have chosen the method, and its amount is a number. */
const mayDiffer = (field: (typeof FIELDS)[number], row: JournalRequest, request: JournalRequest): boolean =>
  field === 'paymentMethod' || (field === 'amount' && Number(row.amount) === Number(request.amount));

/** Lists the fields in which a request differs from that of the row. */
function differingFields(row: JournalRow, request: Request): string[] {
  if (row.bodyHash === request.bodyHash) return [];
  const isUnseen = row.bodyHash === UNSEEN;
  // A gateway writes every currency in capitals.
  const asCompared = (text: string) => (isUnseen ? text.toUpperCase() : text);
  const differing = FIELDS.filter(field => asCompared(row[field]) !== asCompared(request[field]));
  if (isUnseen && differing.every(field => mayDiffer(field, row, request))) return [];
  return differing.length > 0 ? differing : ['other fields'];
}

/** @throws {DuplicateReferenceError} if the requests differ */
export function expectSameRequest(row: JournalRow, request: Request): void {
  const differing = differingFields(row, request);
  if (row.state !== 'freed' && differing.length > 0) throw duplicate(row, request, differing, row.state);
}

/** @throws {DuplicateReferenceError} if the row is planned: only upkeep sends a plan */
export function refusePlan(row: JournalRow, request: Request): void {
  if (row.state === 'planned') throw duplicate(row, request, differingFields(row, request), row.state);
}

const duplicate = (
  { paymentId }: JournalRow,
  { reference }: Request,
  differing: readonly string[],
  state: Exclude<JournalRow['state'], 'freed'>,
) => new DuplicateReferenceError(reference, differing, state, { paymentId });
