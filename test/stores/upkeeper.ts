// One replica of a merchant that owes payouts and runs upkeep again and again, and that dies at a step of its choice.
import { randomUUID } from 'node:crypto';
import { createWebhookHandler, GatewayClient } from '../../src/index.ts';
import { openDatabase } from './database.ts';

const { DATABASE = '', GATEWAY_URL = '', PREFIX = '', EFFECTS = '', ORDERS = '', COUNT = '0', DIE_AT } = process.env;

let steps = 0;
/** SIGKILL leaves no time for anything after it. */
function step(): void {
  steps += 1;
  if (steps === Number(DIE_AT)) process.kill(process.pid, 'SIGKILL');
}

const database = await openDatabase(DATABASE, { max: 8 });
const stepping = database.watched(async (_sql, send) => {
  step();
  const answer = await send();
  step();
  return answer;
});
const gateway = new GatewayClient({
  baseUrl: GATEWAY_URL,
  retries: 0,
  store: stepping.store({ scope: 'shop', tablePrefix: PREFIX }),
  webhookUrl: 'https://shop.example/callbacks',
  onEvent: ({ type }) => (type === 'request' || type === 'response') && step(),
});
const handler = createWebhookHandler({
  gateway,
  onPaidOut: async ({ payment }, { tx }) => {
    await database.queryIn(tx)(`insert into ${EFFECTS} values (?)`, [payment.id]);
    step();
  },
});

/** Owes a payout and plans it in one transaction. Some of them fail. */
async function owe(): Promise<void> {
  const reference = `payout-${randomUUID()}`;
  const { tx, query, end } = await database.begin();
  await query(`insert into ${ORDERS} values (?)`, [reference]);
  step();
  await gateway.payOut(tx, { reference, paymentMethod: 'SEPA', amount: '75.00', currency: 'EUR' });
  step();
  await end(Math.random() < 0.1 ? 'rollback' : 'commit');
  step();
}

for (;;) {
  const [made] = await database.query(`select count(*) as orders from ${ORDERS}`);
  if (Number(made?.orders) < Number(COUNT)) await owe();
  await gateway.upkeep({ handler, once: true, olderThan: 0, recheckAfter: [], limit: 5 });
  await new Promise(resolve => setTimeout(resolve, 5));
}
