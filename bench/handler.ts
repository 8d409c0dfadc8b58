// What the webhook handler takes with each inbox: one process, 8 callbacks at a time, each of another payment. The lookup
// costs nothing, so the rest is the handler's and the inbox's.
import { randomUUID } from 'node:crypto';
import { createWebhookHandler, type Inbox, memoryInbox, type Payment } from 'payment-gateway-sdk';
import { postgresInbox } from 'payment-gateway-sdk/postgres';
import pg from 'pg';
import { median } from './statistics.ts';

const CALLBACKS = 4_000;
const LANES = 8;

interface Contestant {
  inbox: Inbox;
  close(): Promise<unknown>;
}

const contestants: Record<string, () => Promise<Contestant>> = {
  memoryInbox: async () => ({ inbox: memoryInbox(), close: async () => {} }),
  postgresInbox: async () => {
    const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 2 * LANES });
    const table = `bench_${randomUUID().replaceAll('-', '')}`;
    const inbox = postgresInbox(pool, { table });
    await inbox.migrate();
    const close = async () => {
      await pool.query(`drop table ${table}`);
      await pool.end();
    };
    return { inbox: inbox, close };
  },
};

function payment(): Payment {
  return {
    id: randomUUID(),
    paymentStatus: 'COMPLETED',
    paymentType: 'DEPOSIT',
    amount: 25.5,
    currency: 'EUR',
  };
}

async function measure(inbox: Inbox) {
  const payments = new Map(Array.from({ length: CALLBACKS }, payment).map(one => [one.id, one]));
  const handler = createWebhookHandler({
    gateway: { getPayment: async id => payments.get(id) as Payment },
    inbox,
    onPayment: () => {},
  });
  const bodies = [...payments.values()].map(one => JSON.stringify(one)).values();
  const times: number[] = [];
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (const body of bodies) {
        const started = performance.now();
        const { status } = await handler(new Request('https://shop.example', { method: 'POST', body }));
        if (status !== 200) throw new Error(`A callback was answered ${status}.`);
        times.push(performance.now() - started);
      }
    }),
  );
  const perSecond = CALLBACKS / ((performance.now() - begun) / 1000);
  times.sort((a, b) => a - b);
  return { perSecond, p99: times[Math.floor(times.length * 0.99)] ?? 0 };
}

export interface Handled {
  name: string;
  perSecond: number;
  /** Milliseconds. */
  p99: number;
}

export async function handlers(rounds: number): Promise<Handled[]> {
  const seen = new Map<string, { perSecond: number; p99: number }[]>();
  for (let round = -1; round < rounds; round++) {
    for (const [name, open] of Object.entries(contestants)) {
      const { inbox, close } = await open();
      const measured = await measure(inbox);
      await close();
      // The first round warms up.
      if (round >= 0) seen.set(name, [...(seen.get(name) ?? []), measured]);
    }
  }
  return [...seen].map(([name, all]) => ({
    name,
    perSecond: median(all.map(one => one.perSecond)),
    p99: median(all.map(one => one.p99)),
  }));
}

if (import.meta.main) console.table(await handlers(3));
