// The cost of payouts and upkeep in PostgreSQL: planning, sending, and looking for open payments among many final ones.
import { randomUUID } from 'node:crypto';
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { openDatabase, type Work } from './database.ts';
import { quickGateway } from './quick-gateway.ts';
import { alternate, type Line, timeCalls } from './statistics.ts';

const PAYOUTS = 2_000;
const IN_FLIGHT = 16;
const FINAL = 1_000_000;
const OPEN = 100;
const DAY = 86_400_000;
const DEBTS = 'transactions of a debt';
const PLANS = 'transactions of a debt with `payOut`';
const SENT = 'payouts sent by one `upkeep`';
const SHARED = 'payouts sent by three `upkeep`s';

/** The id of a payment by its number, as in the SQL below. */
const idOf = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
const ID = "'00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0')";
const order = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' } as const;
const paidRecord = (id: string) => ({
  ...{ id, paymentStatus: 'COMPLETED', paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 25.5, currency: 'EUR' },
  reference: `final-${Number.parseInt(id.slice(-12), 16)}`,
});

/** Writes the rows of a million paid payments, as callbacks leave them after the last recheck. */
async function writeFinal(pool: pg.Pool): Promise<void> {
  await pool.query(`INSERT INTO payment_gateway_rows (scope, kind, id, state, revision, begun_at, payment_id, data)
    SELECT 'bench', 'create', 'final-' || n, 'created', 4, now() - interval '40 days', ${ID}, json_build_object(
      'attemptId', gen_random_uuid(), 'timeoutMs', 30000, 'conflictingIds', '[]'::json, 'looks', 0, 'paymentType',
      'DEPOSIT', 'paymentMethod', 'CARD', 'amount', '25.5', 'currency', 'EUR', 'bodyHash', repeat('0', 64),
      'paymentId', ${ID}, 'paidBy', ${ID}, 'result', json_build_object('payment', json_build_object('id', ${ID}, 'reference', 'final-' || n,
        'paymentStatus', 'COMPLETED', 'paymentType', 'DEPOSIT', 'paymentMethod', 'CARD', 'amount', 25.5, 'currency',
        'EUR'))) FROM generate_series(1, ${FINAL}) n`);
  await pool.query(`INSERT INTO payment_gateway_rows (scope, kind, id, state, revision, begun_at, data)
    SELECT 'bench', 'payment', ${ID}, 'done', 1, now() - interval '40 days',
      '{"statuses":["COMPLETED"],"outcome":"paid","reviews":[]}' FROM generate_series(1, ${FINAL}) n`);
  await pool.query('VACUUM ANALYZE payment_gateway_rows');
}

const EFFECT_AT = `jsonb_set(data::jsonb, '{effectAt}', to_jsonb(floor(extract(epoch FROM $1::timestamptz) * 1000)))::json`;

/** The cost of payouts, and of an upkeep over a million paid payments. */
export async function upkeeps(rounds: number): Promise<Line[]> {
  const database = await openDatabase();
  const [pool, second, third] = [database.open(), database.open(), database.open()];
  const store = postgresStore(pool, { scope: 'bench' });
  await store.migrate();
  await pool.query('CREATE TABLE debts (reference text PRIMARY KEY, amount numeric NOT NULL)');
  const { options, show } = quickGateway(paidRecord);
  const gateway = new GatewayClient({ ...options, store });

  const owe = async (isPlanned: boolean) => {
    const payout = { ...order, paymentMethod: 'SEPA', reference: randomUUID() } as const;
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('INSERT INTO debts VALUES ($1, $2)', [payout.reference, payout.amount]);
    if (isPlanned) await gateway.payOut(client, payout);
    await client.query('COMMIT');
    client.release();
  };
  const debts = async (isPlanned: boolean) => (await timeCalls(PAYOUTS, IN_FLIGHT, () => owe(isPlanned))).perSecond;
  const send = async (pools: readonly pg.Pool[]) => {
    const begun = performance.now();
    await Promise.all(
      pools.map(own => {
        const sending = new GatewayClient({ ...options, store: postgresStore(own, { scope: 'bench' }) });
        const handler = createWebhookHandler({ gateway: sending, onPaidOut: () => {}, onPayoutFailed: () => {} });
        return sending.upkeep({ handler, once: true, limit: PAYOUTS, concurrency: IN_FLIGHT });
      }),
    );
    return PAYOUTS / ((performance.now() - begun) / 1000);
  };
  const rates = await alternate(rounds, {
    [DEBTS]: () => debts(false),
    [PLANS]: () => debts(true),
    [SENT]: () => send([pool]),
    again: () => debts(true),
    [SHARED]: () => send([pool, second, third]),
  });

  await pool.query('TRUNCATE payment_gateway_rows');
  await writeFinal(pool);
  const sweeping = new GatewayClient({
    ...options,
    store: postgresStore(database.open({ isTimed: true }), { scope: 'bench' }),
  });
  const handler = createWebhookHandler({
    gateway: sweeping,
    onPaid: () => {},
    onReversed: () => {},
    onEvent: () => {},
  });
  const upkeep = async (expected: Partial<Awaited<ReturnType<typeof sweeping.upkeep>>['swept']>) => {
    const { swept } = await sweeping.upkeep({ handler, once: true, olderThan: 0 });
    for (const [what, count] of Object.entries(expected))
      if (swept[what as keyof typeof swept] !== count) throw new Error(`The upkeep found ${JSON.stringify(swept)}.`);
  };
  // Connects, and resolves the table.
  await upkeep({});
  const idle = await database.workOf(() => upkeep({ processed: 0 }));

  // As callbacks leave some of them: due since a minute ago, for their first schedule.
  await pool.query(
    `UPDATE payment_gateway_rows SET due_at = $1, data = ${EFFECT_AT} WHERE kind = 'create' AND payment_id <= $2`,
    [new Date(Date.now() - 60_000), idOf(OPEN)],
  );
  const scheduled = await database.workOf(() => upkeep({ processed: 0 }));
  await pool.query(
    `UPDATE payment_gateway_rows SET due_at = now() + interval '1 day' + random() * interval '28 days', data = ${EFFECT_AT} WHERE kind = 'create'`,
    [new Date(Date.now() - 2 * DAY)],
  );
  await pool.query('VACUUM ANALYZE payment_gateway_rows');
  const waiting = await database.workOf(() => upkeep({ processed: 0 }));
  await pool.query(`UPDATE payment_gateway_rows SET due_at = now() WHERE kind = 'create' AND payment_id <= $1`, [
    idOf(OPEN),
  ]);
  const rechecked = await database.workOf(() => upkeep({ processed: OPEN }));
  show('PENDING');
  for (let index = 0; index < OPEN; index++) await gateway.checkout(randomUUID(), order);
  const open = await database.workOf(() => upkeep({ open: OPEN }));
  await database.close();
  const rateOf = (name: string): Line => ({
    what: name,
    unit: 'per second',
    ours: rates(name),
    of: DEBTS,
    theirs: rates(DEBTS),
  });
  const workOf = (name: string, { statements, ms }: Work): Line => {
    const what = `an upkeep over ${FINAL.toLocaleString('en')} paid payments: ${name}, ${statements} statements`;
    return { what, unit: 'ms of the database', ours: [ms] };
  };
  return [
    ...[PLANS, SENT, SHARED].map(rateOf),
    workOf('all rechecks done', idle),
    workOf('all wait for a recheck', waiting),
    workOf(`${OPEN} open ones`, open),
    workOf(`${OPEN} put on their schedule`, scheduled),
    workOf(`${OPEN} rechecks`, rechecked),
  ];
}
