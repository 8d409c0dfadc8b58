// examples/payments.ts as an app has it: a schema of its own in Postgres, and the sandbox over HTTP as its gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { vi } from 'vitest';
import { POSTGRES, postgresPool, uniqueName } from './stores.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export async function openPaymentsApp() {
  const schema = uniqueName('payments');
  const observer = postgresPool({ options: `-c search_path=${schema}` });
  await observer.query(`create schema ${schema}`);
  let isUp = true;
  const sandbox = new Sandbox({
    fetch: async (_url, init) =>
      isUp
        ? app.handler(new Request('https://shop.example/callbacks', init as RequestInit))
        : new Response(null, { status: 500 }),
  });
  const server = await sandbox.listen();
  const { apiKey, signKey } = sandbox.clientOptions;
  const { user, host, port, database } = POSTGRES;
  vi.stubEnv('DATABASE_URL', `postgres://${user}@${host}:${port}/${database}?options=-c%20search_path%3D${schema}`);
  vi.stubEnv('PAYMENT_GATEWAY_URL', server.url);
  vi.stubEnv('PAYMENT_GATEWAY_API_KEY', apiKey);
  vi.stubEnv('PAYMENT_GATEWAY_SIGN_KEY', signKey);
  /** As another process: nothing is shared with the first but the database. */
  const openReplica = (): Promise<typeof import('../../examples/payments.ts')> => {
    vi.resetModules();
    return import('../../examples/payments.ts');
  };
  const app = await openReplica();
  await app.migrate();

  /** @param table without the schema @param columns as SQL */
  const rowsOf = async (table: string, columns: string) =>
    (await observer.query(`select ${columns} from ${table} order by 1, 2`)).rows;

  return {
    app,
    sandbox,
    server,
    observer,
    openReplica,
    rowsOf,
    /** Whether callbacks reach the app. */
    reach: (reaches: boolean) => {
      isUp = reaches;
    },
    /** Lets time pass for a sweep: callbacks have had theirs. */
    passAnHour: () => observer.query(`update payment_gateway_journal set begun_at = begun_at - interval '1 hour'`),
    /** A command, as a scheduler runs it. */
    async run(command: string) {
      const args = ['--import', 'tsx', 'src/cli/main.ts', command, '--app', 'examples/payments.ts'];
      const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
      const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      return { ...JSON.parse(out), code };
    },
    async empty() {
      isUp = true;
      // What a callback has begun holds locks, and the app goes on with it also after a reset.
      await sandbox.idle();
      sandbox.reset();
      await observer.query('truncate orders, payouts, to_check, payment_gateway_journal, payment_gateway_inbox');
    },
    async close() {
      await app.close();
      vi.unstubAllEnvs();
      await server.close();
      await observer.query(`drop schema ${schema} cascade`);
      await observer.end();
    },
  };
}

export type PaymentsApp = Awaited<ReturnType<typeof openPaymentsApp>>;
