// Plans a payout inside the merchant's own transaction. After the commit, upkeep sends it at most once.
import type { CreateOptions } from '../client-options.ts';
import { ConfigurationError } from '../errors.ts';
import { argumentReader, extraField } from '../options/reader.ts';
import { parseRequest } from '../schemas/checked-request.ts';
import type { WithdrawalRequest } from '../schemas/request.ts';
import { planBy } from '../store/plan.ts';
import type { Gateway } from './gateway.ts';
import { checkUpkeep } from './missing-upkeep.ts';
import { type Entry, storeOf } from './store-calls.ts';

/** The request of `payOut`: a withdrawal with a reference, which identifies it. */
export type PayoutRequest = WithdrawalRequest & { reference: string };

/** The options of `payOut`, its third argument. */
export type PayoutOptions = Pick<CreateOptions, 'extra'>;

const readOptions = argumentReader<PayoutOptions>()({ extra: extraField }, 'not_sent');

export async function payOut(
  gateway: Gateway,
  tx: unknown,
  request: PayoutRequest,
  options?: PayoutOptions,
): Promise<Entry> {
  const store = storeOf(gateway, 'payOut');
  expectTransaction(tx);
  const { extra } = readOptions(options);
  checkUpkeep(gateway);
  gateway.upkeepCheckAt ??= 0;
  return planBy(store, tx, parseRequest('withdrawal', gateway.terminal, request, gateway.webhookUrl), extra);
}

/** @throws {ConfigurationError} for a request, or nothing, in the place of the transaction */
function expectTransaction(tx: unknown): void {
  const { paymentMethod } = (tx ?? {}) as { paymentMethod?: unknown };
  if (tx && typeof paymentMethod !== 'string') return;
  throw new ConfigurationError(
    'payOut takes your open transaction first, then the request: gateway.payOut(tx, request). Nothing was planned.',
    { outcome: 'not_sent' },
  );
}
