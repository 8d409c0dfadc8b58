// One replica of a merchant that sweeps again and again, and kills itself at a step.
import { createWebhookHandler, GatewayClient } from '../../src/index.ts';
import { openDatabase } from '../support/database.ts';

const { DATABASE = '', GATEWAY_URL, MARKS = '', EFFECTS = '', JOURNAL = '', DIE_AT } = process.env;
const database = await openDatabase(DATABASE, { max: 8 });

let steps = 0;
/** Anywhere: before the lookup, after the effect, between its commit and the journal. */
function step(): void {
  steps += 1;
  if (steps === Number(DIE_AT)) process.kill(process.pid, 'SIGKILL');
}

const journal = database.journal({ table: JOURNAL, scope: 'sweep' });
const gateway = new GatewayClient({
  baseUrl: GATEWAY_URL,
  retries: 0,
  journal: {
    ...journal,
    replace: async (row, revision) => {
      step();
      return journal.replace(row, revision);
    },
  },
  onEvent: ({ type }) => type === 'request' && step(),
});
const handler = createWebhookHandler({
  gateway,
  inbox: database.inbox({ table: MARKS }),
  onPayment: async (payment, { tx }) => {
    await database.queryIn(tx)(`insert into ${EFFECTS} values (?)`, [payment.id]);
    step();
  },
});
for (;;) {
  await gateway.sweep({ handler, olderThan: 0, limit: 50 });
  await new Promise(resolve => setTimeout(resolve, 20));
}
