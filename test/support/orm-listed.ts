// The handlers of docs/orms: what they cannot book, or what takes back what they have booked, is on a list.
import type { ClientOptions, GatewayClient, Terminal, WebhookHandler } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

interface Payments {
  handler: WebhookHandler;
  gateway: GatewayClient<Terminal>;
  journal: { migrate(): Promise<void> };
  inbox: { migrate(): Promise<void> };
}

/** A connection beside the library. */
interface Observer {
  query(sql: string): Promise<unknown[]>;
  end(): Promise<void>;
}

async function observe(url: string): Promise<Observer> {
  if (url.startsWith('mysql:')) {
    const mysql = await import('mysql2/promise');
    const connection = await mysql.createConnection(url);
    return { query: async sql => (await connection.query(sql))[0] as unknown[], end: () => connection.end() };
  }
  const client = new pg.Client(url);
  await client.connect();
  return { query: async sql => (await client.query(sql)).rows, end: () => client.end() };
}

const TABLES = [
  'create table if not exists orders (reference varchar(99) primary key, amount decimal(20, 2), currency char(3), paid_by $id)',
  'create table if not exists to_check (payment_id $id, status varchar(99), primary key (payment_id, status))',
];

/** @param openPayments that of the page, over the database of `DATABASE_URL` */
export function proveListed(
  openPayments: (options: ClientOptions) => Payments,
  { begin = async () => {}, end }: { begin?: () => Promise<unknown>; end: () => unknown },
): void {
  const url = process.env.DATABASE_URL ?? '';
  const sandbox = new Sandbox({ fetch: (address, init) => payments.handler(new Request(address, init)) });
  const payments = openPayments({ ...sandbox.clientOptions, onEvent: () => {} });
  let observer: Observer;
  beforeAll(async () => {
    await begin();
    observer = await observe(url);
    const id = url.startsWith('mysql:') ? 'char(36)' : 'uuid';
    for (const table of TABLES) await observer.query(table.replace('$id', id));
    await payments.journal.migrate();
    await payments.inbox.migrate();
  });
  afterAll(async () => {
    await end();
    await observer.end();
  });

  let count = 0;
  let reference: string;
  beforeEach(async () => {
    count += 1;
    reference = `order-${count}.1`;
    sandbox.faults.clear();
    await observer.query('delete from to_check');
    await observer.query(`insert into orders values ('${reference}', 25.50, 'EUR', null)`);
  });

  async function create(amount = '25.50') {
    const webhookUrl = 'https://shop.example/callbacks';
    const { payment } = await payments.gateway.createDeposit({
      paymentMethod: 'CARD',
      ...{ amount, currency: 'EUR', reference, webhookUrl },
    });
    return payment.id;
  }
  /** Each callback comes twice. */
  async function move(how: (id: string) => Promise<unknown>, id: string) {
    const before = sandbox.deliveries.length;
    sandbox.faults.next('callback-duplicate');
    await how(id);
    await sandbox.idle();
    return sandbox.deliveries.slice(before).map(({ status }) => status);
  }
  const listed = () => observer.query('select payment_id, status from to_check order by status');
  const paidBy = async () => {
    const [order] = await observer.query(`select paid_by from orders where reference = '${reference}'`);
    return (order as { paid_by: string | null }).paid_by;
  };

  describe('what a handler cannot book', () => {
    it('is listed once, such as another amount, and again when that payment fails after all', async () => {
      const id = await create('30.00');
      expect(await move(sandbox.complete.bind(sandbox), id)).toEqual([200, 200]);
      const paid = { payment_id: id, status: 'COMPLETED' };
      expect([await paidBy(), await listed()]).toEqual([null, [paid]]);
      await move(payment => sandbox.fail(payment, { force: true }), id);
      expect([await paidBy(), await listed()]).toEqual([null, [paid, { payment_id: id, status: 'FAILED' }]]);
    });

    it('is listed if it had paid and failed after that, as by a chargeback', async () => {
      const id = await create();
      await move(sandbox.complete.bind(sandbox), id);
      expect([await paidBy(), await listed()]).toEqual([id, []]);
      await move(payment => sandbox.fail(payment, { force: true }), id);
      expect([await paidBy(), await listed()]).toEqual([id, [{ payment_id: id, status: 'FAILED' }]]);
    });

    it('is listed by its own status if the document has no such status', async () => {
      const id = await create();
      sandbox.faults.next('unknown-status', { on: 'lookup' });
      await payments.handler.process(id);
      expect([await paidBy(), await listed()]).toEqual([null, [{ payment_id: id, status: 'IN_REVIEW' }]]);
    });

    it('is not done if it is a withdrawal, which it does not record: its callback is refused, and comes again', async () => {
      const { payment } = await payments.gateway.createWithdrawal({
        paymentMethod: 'SEPA',
        ...{ amount: '25.50', currency: 'EUR', reference, webhookUrl: 'https://shop.example/callbacks' },
      });
      const told = vi.spyOn(console, 'error').mockImplementation(() => {});
      expect(await move(sandbox.complete.bind(sandbox), payment.id)).toEqual([503, 503]);
      expect(told.mock.calls.map(([error]) => String(error))).toContainEqual(
        expect.stringContaining('docs/payouts.md'),
      );
      told.mockRestore();
      expect([await paidBy(), await listed()]).toEqual([null, []]);
      await expect(payments.handler.process(payment.id)).rejects.toThrow('docs/payouts.md');
    });

    it('is no payment that was declined, and had paid nothing', async () => {
      const id = await create();
      expect(await move(sandbox.fail.bind(sandbox), id)).toEqual([200, 200]);
      expect([await paidBy(), await listed()]).toEqual([null, []]);
    });
  });
}
