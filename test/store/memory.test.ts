// What memoryStore does besides the suite of all stores.
import { memoryStore } from 'payment-gateway-sdk';
import { afterEach, expect, it, vi } from 'vitest';
import { type Attempt, newRow } from '../../src/store/creates.ts';
import { createsOf } from '../support/creates.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const attempt: Attempt = {
  ...{ scope: 'eu', reference: 'order-1', attemptId: 'first', bodyHash: 'hash', timeoutMs: 0 },
  ...{ paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '25.5', currency: 'EUR' },
};

it('warns under NODE_ENV=production, and only there', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  memoryStore();
  expect(warn).not.toHaveBeenCalled();
  vi.stubEnv('NODE_ENV', 'production');
  memoryStore();
  const message = expect.stringMatching(/^memoryStore forgets all payments .* use postgresStore or mysqlStore\.$/);
  expect(warn).toHaveBeenCalledExactlyOnceWith(message, 'PaymentGatewayWarning');
});

it('lists the oldest create first, and leases first what is due first', async () => {
  let now = 0;
  const creates = createsOf(memoryStore({ scope: 'eu', now: () => now }));
  for (const time of [30, 10, 20]) {
    now = time;
    await creates.insert({ ...newRow({ ...attempt, reference: `order-${time}` }, time), dueAt: time });
  }
  now = 1_000;
  const namesOf = ({ rows }: { rows: { reference: string }[] }) => rows.map(({ reference }) => reference);
  expect(namesOf(await creates.list({ states: ['begun'] }))).toEqual(['order-10', 'order-20', 'order-30']);
  const claim = async () => namesOf(await creates.claim({ states: ['begun'] }, 2, 60_000));
  expect([await claim(), await claim(), await claim()]).toEqual([['order-10', 'order-20'], ['order-30'], []]);
});

it('refuses a second create with the same payment', async () => {
  const creates = createsOf(memoryStore({ scope: 'eu' }));
  const paid = { ...newRow(attempt, 0), state: 'created', paymentId: 'AB' } as const;
  await creates.insert(paid);
  await expect(creates.insert({ ...paid, reference: 'order-2', paymentId: 'ab' })).rejects.toHaveProperty(
    'name',
    'PaymentTaken',
  );
  expect((await creates.owner('aB')).row?.reference).toBe('order-1');
});

it('wakes its watchers at each plan, until they stop', async () => {
  const store = memoryStore({ scope: 'eu' });
  const creates = createsOf(store);
  const controller = new AbortController();
  const woken = vi.fn();
  const watching = store.watch?.(woken, controller.signal);
  const plan = (reference: string) => creates.insert({ ...newRow({ ...attempt, reference }, 0), state: 'planned' }, {});
  await plan('payout-1');
  expect(woken).toHaveBeenCalledOnce();
  controller.abort();
  await watching;
  await plan('payout-2');
  expect(woken).toHaveBeenCalledOnce();
});
