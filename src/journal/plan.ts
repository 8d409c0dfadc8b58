// Plans a create inside the merchant's own transaction. After the commit, a drain sends it at most once.
import { randomUUID } from 'node:crypto';
import { ConfigurationError, InvalidRequestError, PaymentInDoubtError } from '../errors.ts';
import { argumentReader, extraField, oneOf } from '../options/reader.ts';
import { parseRequest } from '../schemas/checked-request.ts';
import { rawJSON } from '../schemas/json.ts';
import type { Terminal } from '../schemas/methods.ts';
import type { OnrampPayment, PaymentRequest } from '../schemas/request.ts';
import { serialize } from '../schemas/serialize.ts';
import type { Journal, JournalEntry, JournalRow } from './contract.ts';
import { entryOf } from './find.ts';
import { journalRequestOf } from './fingerprint.ts';
import { checkReference } from './key.ts';
import { type JournalPlan, plannedRow } from './planned.ts';
import { knownIds } from './row.ts';
import { expectSameRequest } from './same-request.ts';

/** The third argument of `plan`. */
export interface PlanOptions {
  /** Additional top-level fields of the body, as for a create. */
  extra?: object | undefined;
  /**
   * The terminal of the client that will send it: `'onramp'` opens the on-ramp methods.
   * @default 'standard'
   */
  terminal?: Terminal | undefined;
}

/** A journal that can plan creates. @typeParam Tx the merchant's transaction */
export interface Planning<Tx> {
  /**
   * Writes a create inside your own transaction, next to its order or payout: both are committed, or neither. After
   * the commit, `gateway.drain()` sends it once. Await `plan` before the transaction ends. Like your own INSERT, it sends
   * its statements before it returns.
   *
   * @param tx your open transaction: a client of `pg` after its BEGIN, or your library's handle, as in `onPayment`
   * @param request as for `createPayment`, with a `reference`
   * @returns the journal's entry of the reference. Planning the same request again changes nothing
   * @throws {InvalidRequestError} before anything is written
   * @throws {DuplicateReferenceError} the reference belongs to another request
   * @throws {PaymentInDoubtError} a create of the reference runs or is in doubt: roll back and plan it later
   * @throws {ConfigurationError} without a `scope` of the journal, or outside a transaction; or the database's error
   * @example
   * await db.transaction(async tx => {
   *   await tx.insert(payouts).values({ reference: 'payout-77', amount: '120.00' });
   *   await journal.plan(tx, { paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77', webhookUrl });
   * });
   */
  plan(tx: Tx, request: PaymentRequest | OnrampPayment, options?: PlanOptions): Promise<JournalEntry>;
}

const readPlan = argumentReader<PlanOptions>()(
  { extra: extraField, terminal: oneOf(['standard', 'onramp']).default('standard') },
  'not_sent',
);

/** A request in the form that the journal keeps until a drain sends it. */
export interface PlannedRequest {
  request: object;
  extra: object;
}

/**
 * Inserts before the first await, so that the merchant's later queries run after it, as after their own INSERT. It
 * never gives up the insert, because a late one could still be committed.
 *
 * @param insert writes a row in the merchant's transaction
 * @param owner the name of the journal in messages
 */
export async function planBy(
  insert: (row: JournalRow) => ReturnType<Journal['insert']>,
  scope: string | undefined,
  owner: string,
  input: unknown,
  options: PlanOptions | undefined,
): Promise<JournalEntry> {
  if (!scope) throw new ConfigurationError(NO_SCOPE(owner));
  const { extra = {}, terminal } = readPlan(options);
  const checked = parseRequest('payment', terminal, input);
  const { reference } = checked;
  if (!reference) throw new InvalidRequestError([NO_REFERENCE], 'not_sent');
  checkReference(reference);
  const { fields } = serialize(checked, extra);
  const planned: JournalPlan = {
    scope,
    reference,
    ...journalRequestOf(checked, fields),
    planId: randomUUID(),
    body: textOf(fields, checked.amount, extra),
  };
  const { row, now } = await insert(plannedRow(planned));
  expectSameRequest(row, planned);
  // If that create fails, no drain would send the plan.
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
    throw new ConfigurationError(
      'A planned request is not one that this SDK has written: somebody has changed the row.',
    );
  }
}

/** A number that the merchant wrote with `JSON.rawJSON` may have more digits than a JavaScript number keeps. */
const withDigits = (_name: string, value: unknown, { source = '' }: { source?: string }): unknown =>
  typeof value === 'number' && String(value) !== source ? rawJSON(source) : value;

const NO_SCOPE = (owner: string) =>
  `To plan, the journal needs a scope of its own: ${owner}(…, { scope: 'eu-terminal' }). Without one it would not know whose payment this is.`;
const NO_REFERENCE = { path: 'reference', message: 'is required: what is planned is known by it' };
