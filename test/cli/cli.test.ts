// The operator's command line as an operator or a scheduler starts it: real processes, a real database, a real gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FROM_SOURCE } from '../support/processes.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';
import { OperatedShop, time } from './operator.ts';

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

    const SENT = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
    const SWEPT = { processed: 0, open: 0, gaveUp: 0, failed: 0, rechecked: 0 };
    const lastLine = (out: string) => JSON.parse(out.trim().split('\n').at(-1) ?? '');

    it('finishes its upkeep though nobody reads its output any more', async () => {
      for (const reference of ['payout-1', 'payout-2', 'payout-3']) await shop.plan(reference);
      // The reader leaves during the first create.
      sandbox.faults.next('slow', { ms: 500 });
      const child = spawn(process.execPath, [...FROM_SOURCE, cli, 'upkeep', '--once', '--app', app], {
        env: { ...environment, ...shop.env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child.stdout.destroy();
      const [code] = await once(child, 'exit');
      expect([sandbox.payments.length, code]).toEqual([3, 0]);
      for (const reference of ['payout-1', 'payout-2', 'payout-3'])
        expect(await shop.gateway.find(reference)).toHaveProperty('state', 'created');
    });

    it('sends and sweeps once with the client and the handler of an app', async () => {
      await shop.plan('payout-1');
      const sent = await run(['upkeep', '--once', '--app', app]);
      expect([lastLine(sent.out), sent.code]).toEqual([
        { time, command: 'upkeep', swept: SWEPT, sent: { ...SENT, created: 1 } },
        0,
      ]);
      await sandbox.complete(sandbox.payments[0]?.id ?? '');
      const again = ['upkeep', '--once', '--app', app, '--older-than', '0'];
      const failed = await run(again, { FAILS: 'yes' });
      expect([lastLine(failed.out), failed.code]).toEqual([
        { time, command: 'upkeep', swept: { ...SWEPT, failed: 1 }, sent: SENT },
        2,
      ]);
      await shop.age();
      const { out, code } = await run([...again, '--concurrency', '2']);
      expect([out.split('\n')[0], lastLine(out), code]).toEqual([
        'payout-1 is COMPLETED',
        { time, command: 'upkeep', swept: { ...SWEPT, processed: 1 }, sent: SENT },
        0,
      ]);
    });

    it('ends on SIGTERM after its running work, and prints its counts', async () => {
      const child = spawn(process.execPath, [...FROM_SOURCE, cli, 'upkeep', '--app', app], {
        env: { ...environment, ...shop.env },
      });
      const out = text(child.stdout);
      await shop.plan('payout-1');
      await expect.poll(() => sandbox.payments.length).toBe(1);
      await shop.plan('payout-2');
      sandbox.faults.next('slow', { ms: 800 });
      await shop.plan('payout-3');
      await expect.poll(() => sandbox.payments.length).toBe(3);
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      expect([lastLine(await out), code]).toEqual([
        { time, command: 'upkeep', swept: SWEPT, sent: { ...SENT, created: 3 } },
        0,
      ]);
    });
  },
);
