// examples/payments.ts and payouts.ts as an app has them: what is owed is planned, and the commands do the rest.
import { readFileSync } from 'node:fs';
import { GatewayClient } from 'payment-gateway-sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectDocumented } from '../support/documents.ts';
import { errorOf } from '../support/fixtures.ts';
import { openPaymentsApp, type PaymentsApp } from '../support/payments-app.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';

it('docs/getting-started.md shows examples/payments.ts as it is', () => {
  const code = readFileSync(new URL('../../examples/payments.ts', import.meta.url), 'utf8').trim();
  expectDocumented('getting-started.md', 'payments', `\`\`\`typescript\n${code}\n\`\`\``);
});

describe.skipIf(lacks(hasPostgres, 'examples/payments.ts: no PostgreSQL at 127.0.0.1:5432'))('an app', () => {
  let shop: PaymentsApp;
  let app: PaymentsApp['app'];
  let sandbox: PaymentsApp['sandbox'];
  beforeAll(async () => {
    shop = await openPaymentsApp();
    ({ app, sandbox } = shop);
  });
  afterAll(() => shop.close());
  beforeEach(() => shop.empty());

  const idOf = (reference: string) => sandbox.payments.find(payment => payment.reference === reference)?.id ?? '';
  const payouts = () => shop.rowsOf('payouts', 'reference, status');
  const toCheck = () => shop.rowsOf('to_check', 'reference, status');

  it('loses neither a deposit nor a payout whose callback was lost: one sweep lets both take effect', async () => {
    shop.reach(false);
    await app.place('order-1', '25.50', 'EUR');
    await app.pay('order-1');
    await app.payOut('payout-1', '120.00', 'EUR');
    await app.gateway.drain();
    for (const { id } of sandbox.payments) await sandbox.complete(id);
    await sandbox.idle();
    expect(await payouts()).toEqual([{ reference: 'payout-1', status: null }]);
    await shop.passAnHour();
    expect(await shop.run('sweep')).toMatchObject({ processed: 2, open: 0, gaveUp: 0, failed: 0, code: 0 });
    expect(await shop.rowsOf('orders', 'id, paid_by')).toEqual([{ id: 'order-1', paid_by: idOf('order-1.1') }]);
    expect(await payouts()).toEqual([{ reference: 'payout-1', status: 'COMPLETED' }]);
    expect(await toCheck()).toEqual([]);
  });

  it('makes each payout that is owed, once', async () => {
    await app.payOut('payout-1', '120.00', 'EUR');
    await expect(app.payOut('payout-1', '120.00', 'EUR')).rejects.toThrow('duplicate key');
    await app.payOut('payout-2', '80.00', 'EUR');
    expect(sandbox.payments).toHaveLength(0);
    expect(await shop.run('drain')).toMatchObject({ created: 2, refused: 0, postponed: 0, inDoubt: 0, code: 0 });
    const made = sandbox.payments.map(({ reference, amount }) => `${reference}: ${amount}`);
    expect(made.toSorted()).toEqual(['payout-1: 120', 'payout-2: 80']);
    expect(await shop.run('drain')).toMatchObject({ created: 0, code: 0 });
  });

  it('waits for the end of a create that was refused before, until it is known whose payment has failed', async () => {
    await app.payOut('payout-1', '120.00', 'EUR');
    sandbox.faults.next('reject-422');
    await app.gateway.drain();
    await app.planAgain('payout-1');
    sandbox.faults.next('commit-then-drop');
    expect(await app.gateway.drain()).toMatchObject({ inDoubt: 1 });
    const id = idOf('payout-1');
    await sandbox.fail(id);
    await sandbox.idle();
    expect(sandbox.deliveries.at(-1)).toMatchObject({ paymentStatus: 'FAILED', status: 503 });
    expect([await payouts(), await toCheck()]).toEqual([[{ reference: 'payout-1', status: null }], []]);
    await app.gateway.settle('payout-1', id);
    await app.handler.process(id);
    expect([await payouts(), await toCheck()]).toEqual([[{ reference: 'payout-1', status: 'FAILED' }], []]);
  });

  it('does not take the end of another payment of the reference for that of the payout', async () => {
    const beside = new GatewayClient(sandbox.clientOptions);
    await app.payOut('payout-1', '120.00', 'EUR');
    await app.gateway.drain();
    const [own] = sandbox.payments;
    const request = { paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-1' } as const;
    const { payment } = await beside.createWithdrawal({ ...request, webhookUrl: 'https://shop.example/callbacks' });
    await sandbox.fail(payment.id);
    await sandbox.idle();
    expect([await payouts(), await toCheck()]).toEqual([
      [{ reference: 'payout-1', status: null }],
      [{ reference: 'payout-1', status: 'FAILED' }],
    ]);
    await sandbox.complete(own?.id ?? '');
    await sandbox.idle();
    expect(await payouts()).toEqual([{ reference: 'payout-1', status: 'COMPLETED' }]);
  });

  it.each([
    ['planned', async () => {}],
    ['created', async () => void (await app.gateway.drain())],
  ])('plans nothing twice: what is %s stays as it is', async (state, arrange) => {
    await app.payOut('payout-1', '120.00', 'EUR');
    await arrange();
    expect(await app.planAgain('payout-1')).toMatchObject({ state });
    await app.gateway.drain();
    expect(sandbox.payments).toHaveLength(1);
  });

  it('plans a payout again that was refused, after its row was corrected, and tells of it until then', async () => {
    await app.payOut('payout-1', '120.00', 'EUR');
    sandbox.faults.next('reject-422');
    expect(await app.gateway.drain()).toMatchObject({ refused: 1 });
    expect(await app.gateway.drain()).toMatchObject({ created: 0 });
    expect(await app.overdue()).toEqual([]);
    await shop.observer.query(`update payouts set owed_at = now() - interval '61 minutes'`);
    expect(await app.overdue()).toEqual([{ reference: 'payout-1', state: 'freed' }]);
    await shop.observer.query(`update payouts set amount = '119.00'`);
    expect(await app.planAgain('payout-1')).toMatchObject({ state: 'planned' });
    expect(await app.overdue()).toEqual([{ reference: 'payout-1', state: 'planned' }]);
    expect(await app.gateway.drain()).toMatchObject({ created: 1 });
    expect(await app.overdue()).toEqual([]);
    expect(sandbox.payments.map(({ amount }) => amount)).toEqual([119]);
  });

  it('plans a payout again that an operator has settled as not_created, and not while it is in doubt', async () => {
    await app.payOut('payout-1', '120.00', 'EUR');
    sandbox.faults.next('drop');
    expect(await app.gateway.drain()).toMatchObject({ inDoubt: 1 });
    await expect(app.planAgain('payout-1')).rejects.toThrow('its outcome is unknown');
    await shop.passAnHour();
    await app.gateway.settle('payout-1', 'not_created');
    expect(await app.gateway.drain()).toMatchObject({ created: 0 });
    await app.planAgain('payout-1');
    expect(await app.gateway.drain()).toMatchObject({ created: 1 });
    expect(sandbox.payments).toHaveLength(1);
  });

  it('sends nothing again after a restore from a backup, once the payments that the gateway has are processed', async () => {
    const { observer } = shop;
    await app.payOut('payout-1', '120.00', 'EUR');
    await observer.query('create table backup as select * from payment_gateway_journal');
    await app.gateway.drain();
    await observer.query('truncate payment_gateway_journal, payment_gateway_inbox');
    await observer.query('insert into payment_gateway_journal select * from backup');
    await observer.query('drop table backup');
    expect(await app.gateway.find('payout-1')).toMatchObject({ state: 'planned' });
    await app.handler.process(idOf('payout-1'));
    expect(await app.gateway.find('payout-1')).toMatchObject({ state: 'created', paymentId: idOf('payout-1') });
    expect(await app.gateway.drain()).toMatchObject({ created: 0 });
    expect(sandbox.payments).toHaveLength(1);
  });

  it('lists a payout with a status that the document does not have, and reports it once it has had no end for days', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    await app.payOut('payout-1', '120.00', 'EUR');
    await app.gateway.drain();
    sandbox.faults.next('unknown-status', { on: 'lookup' });
    await app.handler.process(idOf('payout-1'));
    expect([await payouts(), await toCheck()]).toEqual([
      [{ reference: 'payout-1', status: null }],
      [{ reference: 'payout-1', status: 'IN_REVIEW' }],
    ]);
    vi.restoreAllMocks();
    const owed = (ago: string) => shop.observer.query(`update payouts set owed_at = now() - interval '${ago}'`);
    await owed('71 hours');
    expect(await app.overdue()).toEqual([]);
    await owed('73 hours');
    expect(await app.overdue()).toEqual([{ reference: 'payout-1', state: 'created' }]);
  });

  it('says what a person must look at, such as a payout that was refused', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    await app.payOut('payout-1', '120.00', 'EUR');
    sandbox.faults.next('reject-422');
    await app.gateway.drain();
    expect(console.warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^plan_refused: .*"payout-1"/));
    vi.restoreAllMocks();
  });

  it('outlives a connection that breaks while it owes a payout, and owes it neither half nor twice', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const { observer } = shop;
    const blocker = await observer.connect();
    await blocker.query('begin');
    await blocker.query('lock table payouts');
    const failing = errorOf(app.payOut('payout-1', '120.00', 'EUR'));
    const INSERTING = `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into payouts%'`;
    await expect.poll(async () => (await observer.query(INSERTING)).rowCount).toBe(1);
    await observer.query(`select pg_terminate_backend(pid) from (${INSERTING}) as inserting`);
    expect(await failing).toBeInstanceOf(Error);
    await blocker.query('rollback');
    blocker.release();
    await app.payOut('payout-1', '120.00', 'EUR');
    expect(await app.gateway.drain()).toMatchObject({ created: 1 });
    vi.restoreAllMocks();
  });

  it('says which payout there is not', async () => {
    await expect(app.planAgain('payout-9')).rejects.toThrow('There is no payout payout-9.');
  });

  it('takes no status of a payout that is not final for its end', async () => {
    await app.payOut('payout-1', '120.00', 'EUR');
    await app.gateway.drain();
    await sandbox.authorize(idOf('payout-1'));
    await sandbox.idle();
    expect(await payouts()).toEqual([{ reference: 'payout-1', status: null }]);
    expect(await toCheck()).toEqual([]);
  });

  it('lists a payout to be checked that ends otherwise than it had ended', async () => {
    await app.payOut('payout-1', '120.00', 'EUR');
    await app.gateway.drain();
    await sandbox.fail(idOf('payout-1'));
    await sandbox.idle();
    await sandbox.complete(idOf('payout-1'), { force: true });
    await sandbox.idle();
    expect(await payouts()).toEqual([{ reference: 'payout-1', status: 'FAILED' }]);
    expect(await toCheck()).toEqual([{ reference: 'payout-1', status: 'COMPLETED' }]);
  });

  it.each([
    ['no payout of the app', { reference: 'bonus' }],
    ['a payout of another amount', { amount: '1200.00' }],
  ])('lists to be checked what is %s', async (_, changes) => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    await app.payOut('payout-1', '120.00', 'EUR');
    const beside = new (await import('payment-gateway-sdk')).GatewayClient(sandbox.clientOptions);
    const request = { paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-1' } as const;
    const { payment } = await beside.createWithdrawal({
      ...{ ...request, ...changes },
      webhookUrl: 'https://shop.example/callbacks',
    });
    await sandbox.complete(payment.id);
    await sandbox.idle();
    expect(await payouts()).toEqual([{ reference: 'payout-1', status: null }]);
    expect(await shop.rowsOf('to_check', 'payment_id, status')).toEqual([
      { payment_id: payment.id, status: 'COMPLETED' },
    ]);
    vi.restoreAllMocks();
  });
});
