// One replica of a merchant that orders payouts, drains and sweeps again and again, and kills itself now and then.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { createWebhookHandler, GatewayClient, isPaid } from '../../src/index.ts';
import { postgresInbox, postgresJournal } from '../../src/postgres/index.ts';
import { Sandbox } from '../../src/sandbox/index.ts';

const { GATEWAY_URL, MARKS = '', EFFECTS = '', JOURNAL = '', ORDERS = '', COUNT = '0', KILL = '0' } = process.env;
const { apiKey, signKey } = new Sandbox().clientOptions;
const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 8 });

/** Anywhere: in the transaction, before and after what is written, between a request and its answer. */
function perhapsDie(): void {
  if (Math.random() < Number(KILL)) process.kill(process.pid, 'SIGKILL');
}

const journal = postgresJournal(pool, { table: JOURNAL, scope: 'plan', encryptionKey: Buffer.alloc(32, 7) });
const gateway = new GatewayClient({
  baseUrl: GATEWAY_URL,
  apiKey,
  signKey,
  retries: 0,
  journal: {
    ...journal,
    claim: async (...asked) => {
      const claimed = await journal.claim(...asked);
      perhapsDie();
      return claimed;
    },
    replace: async (row, revision) => {
      perhapsDie();
      const replaced = await journal.replace(row, revision);
      perhapsDie();
      return replaced;
    },
  },
  onEvent: ({ type }) => (type === 'request' || type === 'response') && perhapsDie(),
});
const handler = createWebhookHandler({
  gateway,
  inbox: postgresInbox(pool, { table: MARKS }),
  onPayment: async (payment, { tx }) => {
    if (isPaid(payment)) await tx.query(`insert into ${EFFECTS} values ($1)`, [payment.id]);
    perhapsDie();
  },
});

/** An order and its payout, in one transaction, which fails now and then. */
async function order(): Promise<void> {
  const reference = `payout-${randomUUID()}`;
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(`insert into ${ORDERS} values ($1)`, [reference]);
    perhapsDie();
    await journal.plan(client, {
      paymentType: 'WITHDRAWAL',
      paymentMethod: 'SEPA',
      amount: '75.00',
      currency: 'EUR',
      reference,
      webhookUrl: 'https://shop.example/callbacks',
      customer: { email: 'zoe@customer.example' },
    });
    perhapsDie();
    await client.query(Math.random() < 0.1 ? 'rollback' : 'commit');
    perhapsDie();
  } finally {
    client.release();
  }
}

for (;;) {
  const { rows } = await pool.query(`select count(*)::int as orders from ${ORDERS}`);
  if (rows[0].orders < Number(COUNT)) await order();
  await gateway.drain({ limit: 5 });
  await gateway.sweep({ handler, olderThan: 0, limit: 5 });
  await new Promise(resolve => setTimeout(resolve, 5));
}
