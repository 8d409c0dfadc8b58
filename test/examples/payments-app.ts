// examples/payments.ts in a separate schema of Postgres, with the sandbox over HTTP as its gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type CheckoutRequest, GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { vi } from 'vitest';
import { POSTGRES, postgresPool, uniqueName } from '../support/stores.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const CARD = {
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  returnUrl: 'https://shop.example/thanks',
} as const satisfies CheckoutRequest;

/** A schema in Postgres and a gateway over HTTP, as the environment of an app. */
export async function openEnvironment(sandbox: Sandbox) {
  const schema = uniqueName('payments');
  const observer = postgresPool({ options: `-c search_path=${schema}` });
  await observer.query(`create schema ${schema}`);
  const server = await sandbox.listen();
  const { apiKey, signKey } = sandbox.clientOptions;
  const { user, host, port, database } = POSTGRES;
  vi.stubEnv('DATABASE_URL', `postgres://${user}@${host}:${port}/${database}?options=-c%20search_path%3D${schema}`);
  vi.stubEnv('PAYMENT_GATEWAY_URL', server.url);
  vi.stubEnv('PAYMENT_GATEWAY_API_KEY', apiKey);
  vi.stubEnv('PAYMENT_GATEWAY_SIGN_KEY', signKey);
  const close = async () => {
    vi.unstubAllEnvs();
    await server.close();
    await observer.query(`drop schema ${schema} cascade`);
    await observer.end();
  };
  /** A client that is not the app's, with no store. */
  const elsewhere = new GatewayClient({ ...server.clientOptions, webhookUrl: 'https://shop.example/callbacks' });
  return { observer, server, elsewhere, close };
}

export async function openPaymentsApp() {
  let isUp = true;
  const sandbox = new Sandbox({
    fetch: async (_url, init) =>
      isUp
        ? app.handler(new Request('https://shop.example/callbacks', init as RequestInit))
        : new Response(null, { status: 500 }),
  });
  const { observer, elsewhere, close } = await openEnvironment(sandbox);
  /** Loads the app again, as another process has it: both share only the database. */
  const openReplica = (): Promise<typeof import('../../examples/payments.ts')> => {
    vi.resetModules();
    return import('../../examples/payments.ts');
  };
  const app = await openReplica();
  await app.migrate();

  /** @param columns as SQL */
  const rowsOf = async (table: string, columns: string) =>
    (await observer.query(`select ${columns} from ${table} order by 1, 2`)).rows;

  const idOf = (reference: string) => sandbox.payments.find(payment => payment.reference === reference)?.id ?? '';

  return {
    app,
    sandbox,
    /** Returns the references of all payments at the gateway. */
    references: () => sandbox.payments.map(({ reference }) => reference),
    async complete(reference: string, options?: { force: true }): Promise<void> {
      await sandbox.complete(idOf(reference), options);
      await sandbox.idle();
    },
    async fail(reference: string, options?: { force: true }): Promise<void> {
      await sandbox.fail(idOf(reference), { reason: 'declined', ...options });
      await sandbox.idle();
    },
    /** Makes a payment that the app does not know. @returns its id */
    madeElsewhere: async (changes: object): Promise<string> =>
      (await elsewhere.createPayment({ paymentType: 'DEPOSIT', ...CARD, ...changes })).payment.id,
    reviews: async () => (await app.gateway.reviews()).map(({ reference, reason }) => [reference, reason]),
    openReplica,
    rowsOf,
    /** Sets whether callbacks reach the app. */
    reach: (reaches: boolean) => {
      isUp = reaches;
    },
    place: (id: string) => observer.query('insert into orders values ($1, 25.50, $2)', [id, 'EUR']),
    pay: (id: string, changes: Partial<CheckoutRequest> = {}) =>
      app.gateway.checkout(id, { ...CARD, ...changes } as CheckoutRequest),
    /** Owes a payout and plans it in one transaction. */
    async payOut(reference: string, amount = '120.00'): Promise<void> {
      const tx = await observer.connect();
      try {
        await tx.query('begin');
        await tx.query('insert into payouts values ($1, $2, $3)', [reference, amount, 'EUR']);
        await app.gateway.payOut(tx, { reference, paymentMethod: 'SEPA', amount, currency: 'EUR' });
        await tx.query('commit');
      } catch (error) {
        await tx.query('rollback');
        throw error;
      } finally {
        tx.release();
      }
    },
    upkeep: () => app.gateway.upkeep({ handler: app.handler, once: true, olderThan: 0 }),
    /** Moves all work an hour into the past, and ends an outage. */
    passAnHour: () =>
      observer.query(`update payment_gateway_rows set begun_at = begun_at - interval '1 hour',
        due_at = due_at - interval '1 hour', leased_until = leased_until - interval '1 hour';
        delete from payment_gateway_rows where kind = 'gateway' and id = 'outage'`),
    /** Runs a command, as an operator or a scheduler does. */
    async run(...command: string[]) {
      const args = ['--import', 'tsx', 'src/cli/main.ts', ...command];
      const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
      const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      return { out, code };
    },
    async empty() {
      isUp = true;
      // A running callback holds locks, and continues after a reset.
      await sandbox.idle();
      sandbox.reset();
      await observer.query(
        `truncate orders, payouts; delete from payment_gateway_rows where kind <> 'gateway' or id = 'outage'`,
      );
    },
    async close() {
      await app.close();
      await close();
    },
  };
}

export type PaymentsApp = Awaited<ReturnType<typeof openPaymentsApp>>;
