// The payouts of examples/payments.ts, against the sandbox over HTTP.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openPaymentsApp, type PaymentsApp } from '../support/payments-app.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';

describe.skipIf(lacks(hasPostgres, 'examples/payments.ts: no PostgreSQL at 127.0.0.1:5432'))('a payout', () => {
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

  it('does not fail with another payment of its reference, and a second completed one goes to review', async () => {
    await shop.payOut('payout-1');
    await shop.upkeep();
    const own = shop.idOf('payout-1');
    const payout = { paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', amount: '120.00', reference: 'payout-1' };
    await sandbox.fail(await shop.madeElsewhere(payout));
    await sandbox.idle();
    expect([await payouts(), await shop.reviews()]).toEqual([[{ reference: 'payout-1', state: 'owed' }], []]);
    await sandbox.complete(own);
    await sandbox.complete(await shop.madeElsewhere(payout));
    await sandbox.idle();
    expect([await payouts(), await shop.reviews()]).toEqual([
      [{ reference: 'payout-1', state: 'paid' }],
      [['payout-1', 'already_paid']],
    ]);
  });

  it('is not sent again after a restore from a backup, once its callback has come again', async () => {
    const { observer } = shop;
    await shop.payOut('payout-1');
    await observer.query('create table backup as select * from payment_gateway_rows');
    await shop.upkeep();
    await observer.query(`delete from payment_gateway_rows where kind <> 'gateway'`);
    await observer.query(`insert into payment_gateway_rows select * from backup where kind <> 'gateway'`);
    await observer.query('drop table backup');
    expect(await app.gateway.find('payout-1')).toMatchObject({ state: 'planned' });
    await shop.complete('payout-1');
    expect(await shop.upkeep()).toMatchObject({ sent: { created: 0 } });
    expect(shop.references()).toEqual(['payout-1']);
  });
});
