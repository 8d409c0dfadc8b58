// Plans a payout inside the merchant's own transaction. After the commit, upkeep sends it at most once.
import { randomUUID } from 'node:crypto';
import { ConfigurationError, InvalidRequestError, PaymentInDoubtError } from '../errors.ts';
import type { CheckedRequest } from '../schemas/checked-request.ts';
import { rawJSON } from '../schemas/json.ts';
import { serialize } from '../schemas/serialize.ts';
import type { CreateEntry, Journal } from './creates.ts';
import { entryOf } from './find.ts';
import { journalRequestOf } from './fingerprint.ts';
import { checkReference } from './key.ts';
import { plannedRow } from './planned.ts';
import { knownIds } from './row.ts';
import { expectSameRequest } from './same-request.ts';

/** A request in the form that the store keeps until upkeep sends it. */
export interface PlannedRequest {
  request: object;
  extra: object;
}

/**
 * Inserts before the first await, so that the merchant's later queries run after it, as after their own INSERT. It
 * never gives up the insert, because a late one could still be committed.
 *
 * @param tx the merchant's transaction
 * @throws {InvalidRequestError} before anything is written
 * @throws {DuplicateReferenceError} the reference belongs to another request
 * @throws {PaymentInDoubtError} a create of the reference runs or has an unknown outcome
 */
export async function planBy(
  journal: Journal,
  tx: unknown,
  payout: CheckedRequest,
  extra: object = {},
): Promise<CreateEntry> {
  const { reference } = payout;
  if (!reference) throw new InvalidRequestError([NO_REFERENCE], 'not_sent');
  checkReference(reference);
  const { fields } = serialize(payout, extra);
  const planned = {
    scope: journal.scope,
    reference,
    ...journalRequestOf(payout, fields),
    planId: randomUUID(),
    body: textOf(fields, payout.amount, extra),
  };
  const { row, now } = await journal.insert(plannedRow(planned), tx);
  expectSameRequest(row, planned);
  // If that create fails, upkeep would not send the payout.
  if (row.state === 'begun') {
    const [paymentId] = knownIds(row);
    throw new PaymentInDoubtError(reference, new Date(row.begunAt), { paymentId });
  }
  return entryOf(row, now);
}

/** Keeps the request unchanged: an amount keeps its digits. */
function textOf(fields: object, amount: number | string, extra: object): string {
  const further = new Set(Object.keys(extra));
  const all = Object.entries({ ...fields, amount });
  const part = (isExtra: boolean) => Object.fromEntries(all.filter(([name]) => further.has(name) === isExtra));
  return JSON.stringify({ request: part(false), extra: part(true) } satisfies PlannedRequest);
}

/** Returns the request of a plan. @throws {ConfigurationError} if the body is not a plan */
export function openPlan(body: string): PlannedRequest {
  try {
    return JSON.parse(body, withDigits as never);
  } catch {
    throw new ConfigurationError('A planned payout cannot be read: another program has changed its row in the store.', {
      outcome: 'not_sent',
    });
  }
}

/** A number that the merchant wrote with `JSON.rawJSON` may have more digits than a JavaScript number keeps. */
const withDigits = (_name: string, value: unknown, { source = '' }: { source?: string }): unknown =>
  typeof value === 'number' && String(value) !== source ? rawJSON(source) : value;

const NO_REFERENCE = { path: 'reference', message: 'is required: the payout is known by it' };
