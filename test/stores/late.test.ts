// A database that stands still after the send.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PAYOUT } from '../support/fixtures.ts';
import { fakeTimers, until } from '../support/passing-time.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, openPostgresStore, postgresPool } from '../support/stores.ts';
import { openProxy } from './proxy.ts';

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
