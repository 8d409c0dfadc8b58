// What comes late: a packet after its create was given up, and a database that stands still after the send.
import { GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { errorOf, PAYOUT } from '../support/fixtures.ts';
import { fakeTimers, until } from '../support/passing-time.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, openPostgresStore, postgresPool } from '../support/stores.ts';
import { openProxy } from './proxy.ts';

/** A client whose requests to the sandbox can be held back, and whose store has its own clock. */
async function openHeld(settleMargin = 60_000) {
  const sandbox = new Sandbox({ fetch: async () => new Response() });
  const server = await sandbox.listen();
  const proxy = await openProxy(Number(new URL(server.url).port));
  onTestFinished(async () => {
    proxy.close();
    await server.close();
  });
  const { fetch, ...options } = sandbox.clientOptions;
  const clock = { passed: 0 };
  const store = memoryStore({ settleMargin, now: () => Date.now() + clock.passed });
  const gateway = new GatewayClient({ ...options, baseUrl: proxy.url, store, retries: 0 });
  /** Waits until a create is on its way, and is held back. */
  const isHeld = () => until(() => proxy.count() > 0);
  return { sandbox, proxy, gateway, clock, isHeld };
}

describe('a packet that arrives after its create was given up', () => {
  async function open(settleMargin: number) {
    const { sandbox, proxy, gateway, clock, isHeld } = await openHeld(settleMargin);
    proxy.hold();
    fakeTimers();
    const creating = errorOf(gateway.createWithdrawal(PAYOUT, { timeout: 20_000 }));
    await isHeld();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await creating).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    clock.passed = 20_000;
    const arrive = async () => {
      proxy.pass();
      await expect.poll(() => sandbox.payments.length).toBe(1);
    };
    return { gateway, sandbox, arrive };
  }

  it('is waited for: an operator cannot say not_created before, and the payment is found', async () => {
    const { gateway, sandbox, arrive } = await open(60_000);
    const error = await errorOf(gateway.settle('payout-1', 'not_created'));
    expect(error).toMatchObject({ name: 'PaymentInDoubtError', reference: 'payout-1' });
    await arrive();
    await gateway.settle('payout-1', sandbox.payments[0]?.id ?? '');
    expect(await gateway.createWithdrawal(PAYOUT)).toHaveProperty('replayed', true);
    expect(sandbox.payments).toHaveLength(1);
  });

  it('pays a second time where the margin is over: that is what the margin is for', async () => {
    const { gateway, sandbox, arrive } = await open(0);
    await gateway.settle('payout-1', 'not_created');
    await arrive();
    await gateway.createWithdrawal(PAYOUT);
    expect(sandbox.payments).toHaveLength(2);
  });
});

describe.skipIf(lacks(hasPostgres, 'a Postgres that stands still: none at 127.0.0.1:5432'))(
  'a Postgres that stands still after the send',
  () => {
    it('does not hold the create up beyond its time, and is told when it answers again', async () => {
      const opened = await openPostgresStore();
      const proxy = await openProxy(5432);
      const pool = postgresPool({ port: proxy.port });
      onTestFinished(async () => {
        proxy.close();
        await opened.close();
      });
      const sandbox = new Sandbox({ fetch: async () => new Response() });
      fakeTimers();
      const gateway = new GatewayClient({
        ...sandbox.clientOptions,
        fetch: async (url, init) => {
          proxy.swallow();
          return sandbox.fetch(url, init as RequestInit);
        },
        store: opened.storeOf(pool),
      });
      const creating = gateway.createWithdrawal(PAYOUT, { timeout: 4_000 });
      await until(() => proxy.lost() > 0);
      await vi.advanceTimersByTimeAsync(4_000);
      const { payment } = await creating;
      proxy.pass();
      const find = async () => (await opened.store.read({ kind: 'create', id: 'payout-1' })).row;
      // The statement is given up after five seconds, and tried again after a pause.
      await vi.advanceTimersByTimeAsync(1_000 + 200);
      await expect.poll(find).toMatchObject({ state: 'created', paymentId: payment.id.toLowerCase() });
    });
  },
);
