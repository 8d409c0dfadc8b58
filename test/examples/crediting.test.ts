// The README's integration, run unchanged: it creates an order and a payout, and its handler applies their outcomes.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { GatewayClient, WebhookHandler } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf, root } from '../docs/pages.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';
import { openEnvironment } from './payments-app.ts';

const folder = `${root}test/docs/examples/crediting/`;

describe.skipIf(lacks(hasPostgres, "the README's integration: no PostgreSQL at 127.0.0.1:5432"))(
  'the integration',
  () => {
    const sandbox = new Sandbox({
      fetch: (_url, init) => handler(new Request('https://shop.example/callbacks', init as RequestInit)),
    });
    let gateway: GatewayClient;
    let handler: WebhookHandler;
    let redirected: string;
    let environment: Awaited<ReturnType<typeof openEnvironment>>;

    beforeAll(async () => {
      environment = await openEnvironment(sandbox);
      const pool = environment.observer;
      await pool.query(`
      create table orders (id text primary key, paid boolean not null default false);
      create table payouts (reference text primary key, state text not null);
      insert into orders values ('order-1042')`);
      const [block] = blocksOf('README.md').filter(({ code }) => code.includes('postgresStore('));
      mkdirSync(folder, { recursive: true });
      const before =
        "export let redirected = '';\nconst response = { redirect: (url: string) => { redirected = url; } };";
      const file = `${folder}quick-start.ts`;
      writeFileSync(file, `${before}\n${block?.code}\n`);
      const shop = await import(file);
      ({ gateway, handler, redirected } = shop);
      const client = await pool.connect();
      await client.query('begin');
      await shop.owe(client, 'payout-77', '120.00');
      await client.query('commit');
      client.release();
      await gateway.upkeep({ handler, once: true });
    });
    afterAll(async () => {
      await environment.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const idOf = (reference: string) => sandbox.payments.find(payment => payment.reference === reference)?.id ?? '';
    const rows = async () => [
      (await environment.observer.query('select paid from orders')).rows[0].paid,
      (await environment.observer.query('select state from payouts')).rows[0].state,
    ];
    const reasons = async () => (await gateway.reviews()).map(({ reason }) => reason);

    it('redirects the customer, sends the payout, applies each outcome, and lists a payment that fits no rule', async () => {
      expect(redirected).toBe(`${environment.server.url}/pay/${idOf('order-1042.1')}`);
      expect(sandbox.payments.map(({ reference }) => reference)).toEqual(['order-1042.1', 'payout-77']);
      expect(await rows()).toEqual([false, 'owed']);
      const moves: [() => Promise<unknown>, unknown[]][] = [
        [() => sandbox.complete(idOf('order-1042.1')), [true, 'owed']],
        [() => sandbox.complete(idOf('payout-77')), [true, 'paid']],
        [() => sandbox.fail(idOf('order-1042.1'), { force: true }), [false, 'paid']],
        [() => sandbox.fail(idOf('payout-77'), { force: true }), [false, 'failed']],
      ];
      for (const [move, expected] of moves) {
        await move();
        await sandbox.idle();
        expect(await rows()).toEqual(expected);
      }
      expect(await reasons()).toEqual([]);

      const { payment } = await environment.elsewhere.createDeposit({
        paymentMethod: 'CARD',
        amount: '25.50',
        currency: 'EUR',
      });
      await sandbox.complete(payment.id);
      await sandbox.idle();
      expect([await rows(), await reasons()]).toEqual([[false, 'failed'], ['unknown_reference']]);
    });
  },
);
