// One replica of a merchant that sweeps again and again, and kills itself now and then.
import pg from 'pg';
import { createWebhookHandler, GatewayClient } from '../../src/index.ts';
import { postgresInbox, postgresJournal } from '../../src/postgres/index.ts';
import { Sandbox } from '../../src/sandbox/index.ts';

const { GATEWAY_URL, MARKS = '', EFFECTS = '', JOURNAL = '', KILL = '0' } = process.env;
const { apiKey, signKey } = new Sandbox().clientOptions;
const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 8 });

/** Anywhere: before the lookup, after the effect, between its commit and the journal. */
function perhapsDie(): void {
  if (Math.random() < Number(KILL)) process.kill(process.pid, 'SIGKILL');
}

const journal = postgresJournal(pool, { table: JOURNAL, scope: 'sweep' });
const gateway = new GatewayClient({
  baseUrl: GATEWAY_URL,
  apiKey,
  signKey,
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
  inbox: postgresInbox(pool, { table: MARKS }),
  onPayment: async (payment, { tx }) => {
    await tx.query(`insert into ${EFFECTS} values ($1)`, [payment.id]);
    perhapsDie();
  },
});
for (;;) {
  await gateway.sweep({ handler, olderThan: 0, limit: 50 });
  await new Promise(resolve => setTimeout(resolve, 20));
}
