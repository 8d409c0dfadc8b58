// One replica of a merchant that orders payouts, drains and sweeps again and again, and kills itself at a step.
import { randomUUID } from 'node:crypto';
import { createWebhookHandler, GatewayClient, isPaid } from '../../src/index.ts';
import { openDatabase } from '../support/database.ts';

const {
  DATABASE = '',
  GATEWAY_URL,
  MARKS = '',
  EFFECTS = '',
  JOURNAL = '',
  ORDERS = '',
  COUNT = '0',
  DIE_AT,
} = process.env;
const database = await openDatabase(DATABASE, { max: 8 });

let steps = 0;
/** Anywhere: in the transaction, before and after what is written, between a request and its answer. */
function step(): void {
  steps += 1;
  if (steps === Number(DIE_AT)) process.kill(process.pid, 'SIGKILL');
}

const journal = database.journal({ table: JOURNAL, scope: 'plan' });
const gateway = new GatewayClient({
  baseUrl: GATEWAY_URL,
  retries: 0,
  journal: {
    ...journal,
    claim: async (...asked) => {
      const claimed = await journal.claim(...asked);
      step();
      return claimed;
    },
    replace: async (row, revision) => {
      step();
      const replaced = await journal.replace(row, revision);
      step();
      return replaced;
    },
  },
  onEvent: ({ type }) => (type === 'request' || type === 'response') && step(),
});
const handler = createWebhookHandler({
  gateway,
  inbox: database.inbox({ table: MARKS }),
  onPayment: async (payment, { tx }) => {
    if (isPaid(payment)) await database.queryIn(tx)(`insert into ${EFFECTS} values (?)`, [payment.id]);
    step();
  },
});

/** An order and its payout, in one transaction, which fails now and then. */
async function order(): Promise<void> {
  const reference = `payout-${randomUUID()}`;
  const { tx, query, end } = await database.begin();
  await query(`insert into ${ORDERS} values (?)`, [reference]);
  step();
  await journal.plan(tx, {
    paymentType: 'WITHDRAWAL',
    paymentMethod: 'SEPA',
    amount: '75.00',
    currency: 'EUR',
    reference,
    webhookUrl: 'https://shop.example/callbacks',
    customer: { email: 'zoe@customer.example' },
  });
  step();
  await end(Math.random() < 0.1 ? 'rollback' : 'commit');
  step();
}

for (;;) {
  const [made] = await database.query(`select count(*) as orders from ${ORDERS}`);
  if (Number(made?.orders) < Number(COUNT)) await order();
  await gateway.drain({ limit: 5 });
  await gateway.sweep({ handler, olderThan: 0, limit: 5 });
  await new Promise(resolve => setTimeout(resolve, 5));
}
