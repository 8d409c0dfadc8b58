// Orders over real databases: many replicas, and the effect's own transaction.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CARD_ORDER, openOrderShop } from '../payments/order-shop.ts';
import { uniqueName } from '../support/stores.ts';
import type { Database } from './database.ts';
import { describeOver } from './databases.ts';

describeOver('an order', ({ open }) => {
  const tablePrefix = uniqueName('orders');
  const options = { scope: 'shop', tablePrefix };
  const CREDITS = `${tablePrefix}_credits`;
  let databases: Database[];
  const [first, second] = [() => databases[0] as Database, () => databases[1] as Database];

  beforeAll(async () => {
    databases = await Promise.all(Array.from({ length: 4 }, () => open({ max: 4 })));
    await first().store(options).migrate();
    await first().query(`create table ${CREDITS} (order_id varchar(200) not null, payment varchar(36) not null)`);
  });
  afterAll(async () => {
    for (const table of [CREDITS, `${tablePrefix}_rows`]) await first().query(`drop table if exists ${table}`);
    await Promise.all(databases.map(database => database.end()));
  });
  const creditsOf = (order: string) => first().query(`select * from ${CREDITS} where order_id = ?`, [order]);
  const reviewsOf = async (gateway: GatewayClient, id: string) =>
    (await gateway.reviews()).filter(({ order }) => order === id);
  const credit = (database: Database) => ({
    onPaid: ({ order, payment }: { order?: string; payment: { id: string } }, { tx }: { tx: unknown }) =>
      database.queryIn(tx)(`insert into ${CREDITS} values (?, ?)`, [order, payment.id]),
  });
  /** A shop with a store of its own pool for each replica. */
  const openShop = () => {
    const shop = openOrderShop({ store: first().store(options), functions: credit(first()) as never });
    const replicas = databases.map(
      database => new GatewayClient({ ...shop.sandbox.clientOptions, store: database.store(options) }),
    );
    return { ...shop, replicas };
  };

  it('gets one payment from forty clicks at once over four replicas', async () => {
    const { replicas, references } = openShop();
    const clicks = Array.from({ length: 40 }, (_, n) =>
      (replicas[n % 4] as GatewayClient).checkout('forty', {
        ...CARD_ORDER,
        ...(n % 3 === 0 && { customer: { firstName: `Customer ${n}` } }),
      }),
    );
    const pages = await Promise.all(clicks);
    const addresses = new Set(pages.flatMap(page => (page.state === 'redirect' ? [page.redirectUrl] : [])));
    expect(references()).toEqual(['forty.1']);
    expect([...addresses]).toHaveLength(1);
    expect(pages.filter(({ state }) => state !== 'redirect' && state !== 'checking')).toEqual([]);
  });

  it('is paid by the first of two payments that complete at once, and the other goes to review', async () => {
    const { gateway, pay } = openShop();
    await gateway.checkout('two', CARD_ORDER);
    await gateway.checkout('two', { ...CARD_ORDER, paymentMethod: 'GOOGLEPAY' });
    await Promise.all([pay('two.1'), pay('two.2')]);
    expect(await creditsOf('two')).toHaveLength(1);
    expect(await reviewsOf(gateway, 'two')).toMatchObject([{ reason: 'already_paid' }]);
    expect(await gateway.order('two')).toMatchObject({ state: 'paid' });
  });

  it('is credited once by forty deliveries of its callback to two replicas', async () => {
    const { replicas, gateway, sandbox, idOf } = openShop();
    await gateway.checkout('once', CARD_ORDER);
    const id = idOf('once.1');
    const handlers = [first(), second()].map((database, n) =>
      createWebhookHandler({ gateway: replicas[n] as GatewayClient, ...(credit(database) as object) }),
    );
    await sandbox.complete(id);
    const post = () => new Request('https://shop.example', { method: 'POST', body: JSON.stringify({ id }) });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => handlers[n % 2]?.(post())));
    expect(await creditsOf('once')).toEqual([{ order_id: 'once', payment: id }]);
    expect(answers.filter(answer => answer?.status !== 200 && answer?.status !== 503)).toEqual([]);
  });

  it('that was deleted from the store is not credited: its payment goes to review', async () => {
    const { gateway, pay } = openShop();
    await gateway.checkout('deleted', CARD_ORDER);
    await first().query(`delete from ${tablePrefix}_rows where id = ?`, ['deleted']);
    await pay('deleted.1');
    expect(await creditsOf('deleted')).toEqual([]);
    expect(await reviewsOf(gateway, 'deleted')).toMatchObject([{ reason: 'unknown_reference' }]);
  });
});
