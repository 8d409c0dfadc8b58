// Plans a create inside the merchant's own transaction: what is committed there is sent later, at most once.
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

/** What `plan` can take as its third argument. */
export interface PlanOptions {
  /** Further top-level fields of the body, as for a create. */
  extra?: object | undefined;
  /**
   * The terminal of the client that will send it: `'onramp'` opens the on-ramp methods.
   * @default 'standard'
   */
  terminal?: Terminal | undefined;
}

/** A journal that creates can be planned in. @typeParam Tx the merchant's transaction */
export interface Planning<Tx> {
  /**
   * Writes a create down inside your own transaction, with the order or the payout that it belongs to: either both are
   * committed, or neither. `gateway.drain()` sends it after that, once. Its statements are sent before it returns, as those of an
   * INSERT of your own. Wait for it before the transaction ends.
   *
   * @param tx your open transaction: a client of `pg` after its BEGIN, or your library's own handle, as `onPayment` gets it
   * @param request as for `createPayment`, with a `reference`
   * @returns what the journal knows of the reference. The same request again changes nothing
   * @throws {InvalidRequestError} before anything is written
   * @throws {DuplicateReferenceError} the reference belongs to another request
   * @throws {PaymentInDoubtError} a create of the reference is running, or its outcome is unknown: roll back, and plan it later
   * @throws {ConfigurationError} without a `scope` of the journal, or for what is no transaction; or what the database throws
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

/** A request as it is kept until it is sent. */
export interface PlannedRequest {
  request: object;
  extra: object;
}

/**
 * Awaits nothing before it inserts: what the merchant sends next comes after it, as after an INSERT of their own. It does not give
 * that up either, for what goes on then could be committed.
 *
 * @param insert writes a row in the merchant's transaction
 * @param owner what messages call the journal
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
  // If that ends without a payment, nobody would send it.
  if (row.state === 'begun') {
    const [paymentId] = knownIds(row);
    throw new PaymentInDoubtError(reference, new Date(row.begunAt), { paymentId });
  }
  return entryOf(row, now);
}

/** As it was asked for: an amount keeps its digits. */
function textOf(fields: object, amount: number | string, extra: object): string {
  const further = new Set(Object.keys(extra));
  const all = Object.entries({ ...fields, amount });
  const part = (isExtra: boolean) => Object.fromEntries(all.filter(([name]) => further.has(name) === isExtra));
  return JSON.stringify({ request: part(false), extra: part(true) } satisfies PlannedRequest);
}

/** The request of a plan. @throws {ConfigurationError} if the body is not one */
export function openPlan(body: string): PlannedRequest {
  try {
    return JSON.parse(body, withDigits as never);
  } catch {
    throw new ConfigurationError(
      'A planned request is not one that this SDK has written: somebody has changed the row.',
    );
  }
}

/** A number that the merchant has written by `JSON.rawJSON` has more digits than a number keeps. */
const withDigits = (_name: string, value: unknown, { source = '' }: { source?: string }): unknown =>
  typeof value === 'number' && String(value) !== source ? rawJSON(source) : value;

const NO_SCOPE = (owner: string) =>
  `To plan, the journal needs a scope of its own: ${owner}(…, { scope: 'eu-terminal' }). Without one it would not know whose payment this is.`;
const NO_REFERENCE = { path: 'reference', message: 'is required: what is planned is known by it' };
