// examples/payments.ts against the sandbox over HTTP: its orders and its payouts.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';
import { CARD, openPaymentsApp, type PaymentsApp } from './payments-app.ts';

describe.skipIf(lacks(hasPostgres, 'examples/payments.ts: no PostgreSQL at 127.0.0.1:5432'))(
  'examples/payments.ts',
  () => {
    let shop: PaymentsApp;
    let app: PaymentsApp['app'];
    let sandbox: PaymentsApp['sandbox'];
    beforeAll(async () => {
      shop = await openPaymentsApp();
      ({ app, sandbox } = shop);
    });
    afterAll(() => shop.close());
    beforeEach(async () => {
      await shop.empty();
      for (const name of ['log', 'warn', 'error'] as const) vi.spyOn(console, name).mockImplementation(() => {});
    });
    afterEach(() => vi.restoreAllMocks());

    describe('an order', () => {
      const orders = () => shop.rowsOf('orders', 'id, paid');
      beforeEach(() => shop.place('order-1042'));
      const pay = () => shop.pay('order-1042');
      const state = async () => (await app.gateway.order('order-1042'))?.state;

      it('is paid once, from many tabs, and a second replica returns the same page', async () => {
        const first = await pay();
        expect(first).toMatchObject({ state: 'redirect', redirectUrl: expect.stringContaining('/pay/') });
        const tabs = await Promise.all([pay(), pay(), pay()]);
        const replica = await shop.openReplica();
        tabs.push(await replica.gateway.checkout('order-1042', CARD));
        await replica.close();
        for (const tab of tabs) expect(tab).toMatchObject({ redirectUrl: 'redirectUrl' in first && first.redirectUrl });
        expect([shop.references(), await state()]).toEqual([['order-1042.1'], 'open']);
        await shop.complete('order-1042.1');
        expect([await orders(), await state()]).toEqual([[{ id: 'order-1042', paid: true }], 'paid']);
        expect(console.log).toHaveBeenCalledExactlyOnceWith('Receipt of order order-1042');
        expect(await pay()).toMatchObject({ state: 'paid' });
        expect(shop.references()).toEqual(['order-1042.1']);
      });

      it('is open again after a chargeback, and a new payment pays it', async () => {
        await pay();
        await shop.complete('order-1042.1');
        await shop.fail('order-1042.1', { force: true });
        expect([await orders(), await state()]).toEqual([[{ id: 'order-1042', paid: false }], 'reversed']);
        expect(await pay()).toMatchObject({ state: 'redirect' });
        await shop.complete('order-1042.2');
        expect([await orders(), await shop.reviews()]).toEqual([[{ id: 'order-1042', paid: true }], []]);
        await shop.complete('order-1042.1', { force: true });
        expect(await shop.reviews()).toEqual([['order-1042.1', expect.stringMatching(/^(paid_again|already_paid)$/)]]);
      });

      it('is paid when its row exists, though the callback came before that', async () => {
        await shop.pay('order-1');
        await shop.complete('order-1.1');
        expect(sandbox.deliveries.at(-1)).toMatchObject({ status: 503 });
        expect((await app.gateway.order('order-1'))?.state).toBe('checking');
        await shop.place('order-1');
        expect(await shop.upkeep()).toMatchObject({ swept: { processed: 1 } });
        expect(await orders()).toEqual([
          { id: 'order-1', paid: true },
          { id: 'order-1042', paid: false },
        ]);
      });

      it('has its reviews listed and closed by the commands', async () => {
        const command = async () => {
          const { out, code } = await shop.run('reviews', '--scope', 'eu-terminal', '--json');
          return { listed: JSON.parse(out), code };
        };
        const id = await shop.madeElsewhere({ reference: 'gift-card' });
        await sandbox.complete(id);
        await sandbox.idle();
        expect(await command()).toMatchObject({ listed: [{ id, reason: 'unknown_reference' }], code: 1 });
        expect(await shop.run('resolve', id, 'COMPLETED', '--scope', 'eu-terminal')).toMatchObject({ code: 0 });
        expect(await command()).toEqual({ listed: [], code: 0 });
      });
    });

    describe('a payout', () => {
      const payouts = () => shop.rowsOf('payouts', 'reference, state');
      const runUpkeep = () => shop.run('upkeep', '--once', '--app', 'examples/payments.ts');

      it('is sent once, after the commit of the transaction that owes it', async () => {
        await shop.payOut('payout-1');
        await expect(shop.payOut('payout-1')).rejects.toThrow('duplicate key');
        await shop.payOut('payout-2', '80.00');
        expect(shop.references()).toEqual([]);
        expect(await runUpkeep()).toMatchObject({ code: 0 });
        const made = sandbox.payments.map(({ reference, amount }) => `${reference}: ${amount}`);
        expect(made.toSorted()).toEqual(['payout-1: 120', 'payout-2: 80']);
        expect(await shop.upkeep()).toMatchObject({ sent: { created: 0 } });
      });

      it('is found with an order if both callbacks were lost', async () => {
        shop.reach(false);
        await shop.place('order-1');
        await shop.pay('order-1');
        await shop.payOut('payout-1');
        await shop.upkeep();
        for (const reference of shop.references()) await shop.complete(`${reference}`);
        expect(await payouts()).toEqual([{ reference: 'payout-1', state: 'owed' }]);
        await shop.passAnHour();
        expect(await runUpkeep()).toMatchObject({ code: 0 });
        expect([await shop.rowsOf('orders', 'id, paid'), await payouts(), await shop.reviews()]).toEqual([
          [{ id: 'order-1', paid: true }],
          [{ reference: 'payout-1', state: 'paid' }],
          [],
        ]);
      });

      it.each([
        ['failed at the gateway', async () => shop.fail('payout-1')],
        [
          'was returned by the bank',
          async () => {
            await shop.complete('payout-1');
            expect(await payouts()).toEqual([{ reference: 'payout-1', state: 'paid' }]);
            await shop.fail('payout-1', { force: true });
          },
        ],
      ])('is owed again after it %s, and a later completion goes to review', async (_, end) => {
        await shop.payOut('payout-1');
        await shop.upkeep();
        await end();
        expect([await payouts(), await shop.reviews()]).toEqual([[{ reference: 'payout-1', state: 'failed' }], []]);
        await shop.complete('payout-1', { force: true });
        expect(await payouts()).toEqual([{ reference: 'payout-1', state: 'failed' }]);
        expect(await shop.reviews()).toEqual([['payout-1', 'paid_again']]);
      });
    });
  },
);
