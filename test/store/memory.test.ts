// What memoryStore does besides the suite of all stores.
import { memoryStore } from 'payment-gateway-sdk';
import { afterEach, expect, it, vi } from 'vitest';
import { type Attempt, newRow, storeRowOf } from '../../src/store/rules/create-row.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const attempt: Attempt = {
  ...{ reference: 'order-1', attemptId: 'first', bodyHash: 'hash', timeoutMs: 0 },
  ...{ paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '25.5', currency: 'EUR' },
};

it('warns under NODE_ENV=production, and only there', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  memoryStore();
  expect(warn).not.toHaveBeenCalled();
  vi.stubEnv('NODE_ENV', 'production');
  memoryStore();
  const message = expect.stringMatching(/^memoryStore, or a handler .* use postgresStore or mysqlStore\.$/);
  expect(warn).toHaveBeenCalledExactlyOnceWith(message, 'PaymentGatewayWarning');
});

it('wakes its watchers at each plan, until they stop', async () => {
  const store = memoryStore({ scope: 'eu' });
  const controller = new AbortController();
  const woken = vi.fn();
  const watching = store.watch?.(woken, controller.signal);
  const plan = (reference: string) =>
    store.write(storeRowOf({ ...newRow({ ...attempt, reference }), state: 'planned' }), {});
  await plan('payout-1');
  expect(woken).toHaveBeenCalledOnce();
  controller.abort();
  await watching;
  await plan('payout-2');
  expect(woken).toHaveBeenCalledOnce();
});
