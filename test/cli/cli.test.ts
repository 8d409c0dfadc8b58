// The operator's command line as an operator or a scheduler starts it: real processes, a real database, a real gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { linesOf, NONE, OperatedShop, time } from '../support/operator.ts';
import { FROM_SOURCE } from '../support/processes.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const app = fileURLToPath(new URL('app.ts', import.meta.url));

/** Vitest asks its children for colours. */
const { FORCE_COLOR, ...environment } = process.env;

describe.skipIf(lacks(hasPostgres, 'the operator’s command line: no PostgreSQL at 127.0.0.1:5432'))(
  'npx payment-gateway-sdk',
  () => {
    const shop = new OperatedShop();
    const { sandbox } = shop;

    /** Runs it to its end. */
    async function run(args: string[], changes: Record<string, string> = {}) {
      const child = spawn(process.execPath, [...FROM_SOURCE, cli, ...args], {
        env: { ...environment, ...shop.env, ...changes },
      });
      const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      return { out, err, code };
    }

    it('prints doubts, and tells with its exit code whether there are any', async () => {
      expect(await run(['doubts'])).toEqual({ out: 'Nothing is in doubt.\n', err: '', code: 0 });
      await shop.doubt();
      await shop.age();
      expect(await run(['doubts'])).toEqual({ out: expect.stringMatching(/payout-77 .*\n/), err: '', code: 1 });
    });

    it('complains in one line, and prints nothing else', async () => {
      expect(await run(['doubt'])).toEqual({
        out: '',
        err: "payment-gateway-sdk: unknown command 'doubt' (Did you mean doubts?)\n",
        code: 2,
      });
    });

    it('finishes what it drains though nobody reads what it prints any more', async () => {
      for (const reference of ['payout-1', 'payout-2', 'payout-3']) await shop.plan(reference);
      // The reader is gone while the first create is under way.
      sandbox.faults.next('slow', { ms: 500 });
      const child = spawn(process.execPath, [...FROM_SOURCE, cli, 'drain', '--scope', 'eu'], {
        env: { ...environment, ...shop.env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child.stdout.destroy();
      const [code] = await once(child, 'exit');
      expect([sandbox.payments.length, code]).toEqual([3, 0]);
      const { rows } = await shop.pool.query(
        `select count(*)::int as left from ${shop.table} where state <> 'created'`,
      );
      expect(rows).toEqual([{ left: 0 }]);
    });

    it('drains and sweeps with the client and the handler of an app', async () => {
      await shop.plan('payout-1');
      const drained = await run(['drain', '--app', app]);
      expect([linesOf(drained.out), drained.code]).toEqual([[{ time, command: 'drain', ...NONE, created: 1 }], 0]);
      const [made] = sandbox.payments;
      await sandbox.complete(made?.id ?? '');
      await sandbox.idle();
      // It has signed the address of its callbacks, as the app does.
      expect(shop.gateway.checkCallbackUrl(sandbox.deliveries.at(-1)?.url ?? '')).toBeTypeOf('string');
      const failed = await run(['sweep', '--app', app, '--older-than', '0'], { FAILS: 'yes' });
      expect([linesOf(failed.out), failed.code]).toEqual([
        [{ time, command: 'sweep', processed: 0, open: 0, gaveUp: 0, failed: 1 }],
        2,
      ]);
      await shop.pool.query(`update ${shop.table} set due_at = now()`);
      const { out, code } = await run(['sweep', '--app', app, '--older-than', '0', '--concurrency', '2']);
      const [effect, line] = out.trim().split('\n');
      expect([effect, JSON.parse(line ?? ''), code]).toEqual([
        'payout-1 is COMPLETED',
        { time, command: 'sweep', processed: 1, open: 0, gaveUp: 0, failed: 0 },
        0,
      ]);
    });

    it('says which app has failed, whose database is its own', async () => {
      const { err, code } = await run(['drain', '--app', app, '--limit', '5'], {
        PAYMENT_GATEWAY_JOURNAL_TABLE: 'nowhere',
      });
      expect([code, err]).toEqual([
        2,
        expect.stringContaining("Pass your app's --table, or run its journal.migrate()."),
      ]);
      expect(err).not.toContain('DATABASE_URL');
    });

    it('ends on SIGTERM with what has begun, and says what it did', async () => {
      const child = spawn(process.execPath, [...FROM_SOURCE, cli, 'drain', '--follow', '--scope', 'eu'], {
        env: { ...environment, ...shop.env },
      });
      const out = text(child.stdout);
      await shop.plan('payout-1');
      await expect.poll(() => sandbox.payments.length, { timeout: 10_000 }).toBe(1);
      await shop.plan('payout-2');
      sandbox.faults.next('slow', { ms: 800 });
      await shop.plan('payout-3');
      await expect.poll(() => sandbox.payments.length, { timeout: 10_000 }).toBe(3);
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      expect([linesOf(await out).at(-1), code]).toEqual([{ time, command: 'drain', ...NONE, created: 3 }, 0]);
    });
  },
);
