// One replica of a merchant that sweeps again and again, and kills itself now and then.
import { createWebhookHandler, GatewayClient } from '../../src/index.ts';
import { openDatabase } from '../support/database.ts';

const { DATABASE = '', GATEWAY_URL, MARKS = '', EFFECTS = '', JOURNAL = '', KILL = '0' } = process.env;
const database = await openDatabase(DATABASE, { max: 8 });

/** Anywhere: before the lookup, after the effect, between its commit and the journal. */
function perhapsDie(): void {
  if (Math.random() < Number(KILL)) process.kill(process.pid, 'SIGKILL');
}

const journal = database.journal({ table: JOURNAL, scope: 'sweep' });
const gateway = new GatewayClient({
  baseUrl: GATEWAY_URL,
  retries: 0,
  journal: {
    ...journal,
    replace: async (row, revision) => {
      perhapsDie();
      return journal.replace(row, revision);
    },
  },
  onEvent: ({ type }) => type === 'request' && perhapsDie(),
});
const handler = createWebhookHandler({
  gateway,
  inbox: database.inbox({ table: MARKS }),
  onPayment: async (payment, { tx }) => {
    await database.queryIn(tx)(`insert into ${EFFECTS} values (?)`, [payment.id]);
    perhapsDie();
  },
});
for (;;) {
  await gateway.sweep({ handler, olderThan: 0, limit: 50 });
  await new Promise(resolve => setTimeout(resolve, 20));
}
