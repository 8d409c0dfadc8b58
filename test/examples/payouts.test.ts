// examples/payouts.ts as an app has it: payouts are owed and planned together, and the commands do the rest.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe.skipIf(lacks(hasPostgres, 'examples/payouts.ts: no PostgreSQL at 127.0.0.1:5432'))(
  'examples/payouts.ts',
  () => {
    const schema = uniqueName('payouts');
    const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
    let observer: pg.Pool;
    let server: { url: string; close(): Promise<void> };
    let app: typeof import('../../examples/payouts.ts');

    beforeAll(async () => {
      observer = postgresPool({ options: `-c search_path=${schema}` });
      await observer.query(`create schema ${schema}`);
      await observer.query(`create table payouts (reference text primary key, amount numeric not null, status text)`);
      server = await sandbox.listen();
      const { apiKey, signKey } = sandbox.clientOptions;
      vi.stubEnv('DATABASE_URL', `postgres://postgres@127.0.0.1:5432/test?options=-c%20search_path%3D${schema}`);
      vi.stubEnv('PAYMENT_GATEWAY_URL', server.url);
      vi.stubEnv('PAYMENT_GATEWAY_API_KEY', apiKey);
      vi.stubEnv('PAYMENT_GATEWAY_SIGN_KEY', signKey);
      app = await import('../../examples/payouts.ts');
      await app.journal.migrate();
      await app.inbox.migrate();
    });
    afterAll(async () => {
      await app.close();
      vi.unstubAllEnvs();
      await server.close();
      await observer.query(`drop schema ${schema} cascade`);
      await observer.end();
    });

    /** As a scheduler runs it. */
    async function run(command: string) {
      const args = ['--import', 'tsx', 'src/cli/main.ts', command, '--app', 'examples/payouts.ts'];
      const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
      const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      return { ...JSON.parse(out), code };
    }
    const payouts = async () => (await observer.query('select reference, status from payouts order by 1')).rows;

    it('makes each payout that is owed, and tells how it ended though no callback ever came', async () => {
      await app.payOut('payout-1', '120.00');
      await expect(app.payOut('payout-1', '120.00')).rejects.toThrow('duplicate key');
      await app.payOut('payout-2', '80.00');
      expect(sandbox.payments).toHaveLength(0);
      expect(await run('drain')).toMatchObject({ created: 2, refused: 0, postponed: 0, inDoubt: 0, code: 0 });
      expect(sandbox.payments.map(({ reference, amount }) => [reference, amount])).toEqual([
        ['payout-1', 120],
        ['payout-2', 80],
      ]);
      for (const { id } of sandbox.payments) await sandbox.complete(id);
      await observer.query(`update payment_gateway_journal set begun_at = now() - interval '1 hour'`);
      expect(await run('sweep')).toMatchObject({ processed: 2, open: 0, gaveUp: 0, failed: 0, code: 0 });
      expect(await payouts()).toEqual([
        { reference: 'payout-1', status: 'COMPLETED' },
        { reference: 'payout-2', status: 'COMPLETED' },
      ]);
      expect(await run('drain')).toMatchObject({ created: 0, code: 0 });
    });
  },
);
