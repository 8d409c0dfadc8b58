// Plans a payout inside the merchant's own transaction. After the commit, upkeep sends it at most once.
import type { CreateOptions } from '../client-options.ts';
import { ConfigurationError } from '../errors.ts';
import { argumentReader, extraField } from '../option-reader.ts';
import { checkRequest } from '../schemas/requests/checked-request.ts';
import type { WithdrawalRequest } from '../schemas/requests/request.ts';
import { serialize } from '../schemas/requests/serialize.ts';
import { change } from '../store/creates/change.ts';
import { inDoubt } from '../store/creates/doubts.ts';
import type { ReadRow } from '../store/rules/create-row.ts';
import { expectSameRequest, newAttempt } from '../store/rules/fingerprint.ts';
import { plan } from '../store/rules/transitions.ts';
import { withReference } from './create.ts';
import type { Gateway } from './gateway.ts';
import { checkUpkeep } from './missing-upkeep.ts';
import { type Entry, entryOf, storeOf } from './references.ts';

/** The request of `payOut`. */
export type PayoutRequest = WithdrawalRequest & { reference: string };

const readOptions = argumentReader<Pick<CreateOptions, 'extra'>>()({ extra: extraField }, 'not_sent');

/** Writes before the first await, so that the merchant's later queries run after it, as after their own INSERT. */
export async function payOut(
  gateway: Gateway,
  tx: unknown,
  request: PayoutRequest,
  options?: Pick<CreateOptions, 'extra'>,
): Promise<Entry> {
  const store = storeOf(gateway, 'payOut');
  if (!tx) throw new ConfigurationError(NO_TRANSACTION, { outcome: 'not_sent' });
  const { extra = {} } = readOptions(options);
  checkUpkeep(gateway);
  gateway.upkeepCheckAt ??= 0;
  const payout = withReference(checkRequest(gateway, 'withdrawal', request));
  const attempt = newAttempt({ ...JSON.parse(serialize(payout, extra)), amount: payout.amount }, { timeoutMs: 0 });
  const body = JSON.stringify({ request: payout, extra });
  const { row } = (await change(store, attempt, row => plan(row, attempt, body), null, tx)) as { row: ReadRow };
  expectSameRequest(row, attempt, { mayBePlanned: true });
  // If that create fails, upkeep would not send the payout.
  if (row.state === 'begun') throw inDoubt(row);
  return entryOf(store, row);
}

/** Without a transaction, the plan would be committed although the merchant's work is rolled back. */
const NO_TRANSACTION =
  'payOut takes your open transaction first, then the request: gateway.payOut(tx, request). Nothing was planned.';
