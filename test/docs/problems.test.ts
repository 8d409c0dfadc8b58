// docs/troubleshooting.md quotes messages under "First problems". Each is produced here.
import { GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createWebhookHandler } from '../../src/index.ts';
import { CARD, errorOf, KEYS } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';
import { rowsOf, sectionOf } from './pages.ts';

const messageOf = async (call: () => unknown) => String(await errorOf((async () => call())()));
const webhookUrl = 'https://shop.example/callbacks';
const schema = uniqueName('problems');
const pool = postgresPool({ options: `-c search_path=${schema}`, max: 4 });
const options = { scope: 'eu-terminal' };

/** Pays an order whose `onPaid` is given. @returns the error of its callback */
async function failedCallback(onPaid: (tx: { query(sql: string): Promise<unknown> }) => unknown, max = 4) {
  const own = postgresPool({ options: `-c search_path=${schema}`, max });
  const errors: unknown[] = [];
  const sandbox: Sandbox = new Sandbox({ fetch: (url, init) => handler(new Request(url, init)) });
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store: postgresStore(own, options), webhookUrl });
  const handler = createWebhookHandler({
    gateway,
    onPaid: (_, { tx }) => onPaid(tx as never),
    onError: error => errors.push(error),
  });
  const { payment } = await gateway.createDeposit({ ...CARD, reference: crypto.randomUUID() });
  await sandbox.complete(payment.id);
  await sandbox.idle();
  await own.end();
  return String(errors[0]);
}

const PROBLEMS: Record<string, () => Promise<string>> = {
  'baseUrl is missing': () => messageOf(() => new GatewayClient()),
  'apiKey must not start with "Bearer"': () =>
    messageOf(() => new GatewayClient({ ...KEYS, apiKey: `Bearer ${KEYS.apiKey}` })),
  'baseUrl must end before /api/v1': () =>
    messageOf(() => new GatewayClient({ ...KEYS, baseUrl: `${KEYS.baseUrl}/api/v1` })),
  'baseUrl must use https:': () => messageOf(() => new GatewayClient({ ...KEYS, baseUrl: 'http://gateway.example' })),
  'does not start under NODE_ENV=production': async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const message = await messageOf(() => new Sandbox());
    vi.unstubAllEnvs();
    return message;
  },
  'not posted: the address is not on loopback': async () => {
    const sandbox = new Sandbox();
    const gateway = new GatewayClient({ ...sandbox.clientOptions, store: memoryStore(), webhookUrl });
    const { payment } = await gateway.createDeposit(CARD);
    await sandbox.complete(payment.id);
    await sandbox.idle();
    return sandbox.deliveries[0]?.error ?? '';
  },
  'UUID of the payment, not your reference': () => messageOf(() => new GatewayClient(KEYS).getPayment('order-1')),
  'call migrate(), or correct tablePrefix': () => {
    const store = postgresStore(pool, { ...options, tablePrefix: 'missing' });
    return messageOf(() =>
      new GatewayClient({ ...KEYS, store, webhookUrl }).createDeposit({ ...CARD, reference: 'order-1' }),
    );
  },
  'permission denied for schema': async () => {
    const role = uniqueName('problem');
    await pool.query(`create role ${role}; grant usage on schema ${schema} to ${role}`);
    const narrow = postgresPool({ options: `-c search_path=${schema} -c role=${role}`, max: 2 });
    const message = await messageOf(() => postgresStore(narrow, { ...options, tablePrefix: 'other' }).migrate());
    await narrow.end();
    await pool.query(`drop owned by ${role}; drop role ${role}`);
    return message;
  },
  'Pass the pool itself, not a client': () => messageOf(() => postgresStore({ select() {} } as never, options)),
  'ignored an SQL error': () => failedCallback(tx => tx.query('select nothing').catch(() => {})),
};

const NEED_POSTGRES = [
  'call migrate(), or correct tablePrefix',
  'permission denied for schema',
  'ignored an SQL error',
];

beforeAll(async () => {
  if (!hasPostgres) return;
  await pool.query(`create schema ${schema}`);
  await postgresStore(pool, options).migrate();
});
afterAll(async () => {
  if (hasPostgres) await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
});

describe('first problems', () => {
  it('are those of the page', () => {
    const rows = rowsOf(sectionOf('docs/troubleshooting.md', 'First problems')).slice(1);
    expect(rows.map(([message]) => message)).toEqual(Object.keys(PROBLEMS).map(message => `\`${message}\``));
  });

  for (const [message, produce] of Object.entries(PROBLEMS)) {
    const isLacking =
      NEED_POSTGRES.includes(message) &&
      lacks(hasPostgres, `the problem "${message}": no PostgreSQL at 127.0.0.1:5432`);
    it.skipIf(isLacking)(message, async () => expect(await produce()).toContain(message));
  }
});
