// The operator's command line over a real database and a real gateway, in this process; cli.test.ts starts it as an operator does.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mysqlStore } from 'payment-gateway-sdk/mysql';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { run as runCommand } from '../../src/cli/program.ts';
import { errorOf, OTHER_ID } from '../support/fixtures.ts';
import { isInstalled, tool } from '../support/install.ts';
import { hasOwnMariadb } from '../support/own-mariadb.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';
import { OperatedShop, PAYOUT_77 } from './operator.ts';

describe.skipIf(lacks(hasPostgres, 'the operator’s command line: no PostgreSQL at 127.0.0.1:5432'))(
  'payment-gateway-sdk',
  () => {
    const shop = new OperatedShop();
    const { sandbox } = shop;
    afterEach(() => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    });

    /** Runs it to its end, in the folder of an app. */
    async function run(args: string[], changes: Record<string, string> = {}, folder = process.cwd()) {
      const told: Record<'log' | 'error', string[]> = { log: [], error: [] };
      for (const name of ['log', 'error'] as const)
        vi.spyOn(console, name).mockImplementation(line => void told[name].push(`${line}\n`));
      vi.spyOn(process, 'cwd').mockReturnValue(folder);
      for (const [name, value] of Object.entries({ ...shop.env, ...changes })) vi.stubEnv(name, value);
      const code = await runCommand(args);
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
      return { out: told.log.join(''), err: told.error.join(''), code };
    }

    it('lists doubts for people and for scripts, and its exit code tells whether there are any', async () => {
      await shop.doubt();
      await shop.doubt({ reference: 'payout-78\u001b[31m', amount: '9.5' });
      await shop.age();
      const { out, code } = await run(['doubts']);
      expect(out).toMatch(/REFERENCE +SINCE +TYPE +METHOD +AMOUNT +STATE +PAYMENT\n/);
      expect(out).toMatch(/payout-77 +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +WITHDRAWAL +SEPA +120 EUR +in doubt +-\n/);
      expect(out).toContain('payout-78·[31m');
      expect(out).not.toContain('\u001b');
      expect(code).toBe(1);
      const json = JSON.parse((await run(['doubts', '--json'])).out);
      expect(json).toEqual(JSON.parse(JSON.stringify(await shop.gateway.doubts())));
      expect(json).toMatchObject([{ reference: 'payout-77', amount: '120', underWay: false }, { amount: '9.5' }]);
    });

    it('lists reviews, and closes them', async () => {
      const id = await shop.review();
      const { out, code } = await run(['reviews']);
      expect([code, out]).toEqual([1, expect.stringMatching(`${id} +COMPLETED +unknown_reference `)]);
      expect(JSON.parse((await run(['reviews', '--json'])).out)).toMatchObject([{ id, status: 'COMPLETED' }]);
      expect(await run(['resolve', id, 'FAILED'])).toMatchObject({ code: 1, out: '' });
      expect(await run(['resolve', id, 'COMPLETED'])).toEqual({
        out: `The review of ${id} with status COMPLETED is closed.\n`,
        err: '',
        code: 0,
      });
      expect(await run(['reviews'])).toEqual({ out: 'Nothing is for review in scope eu.\n', err: '', code: 0 });
    });

    it.each(['doubts', 'reviews'])('"%s" reports a scope that was never used, which may be mistyped', async command => {
      await shop.gateway.createWithdrawal(PAYOUT_77);
      expect(await run([command])).toMatchObject({ err: '', code: 0 });
      expect(await run([command, '--scope', 'ue'])).toEqual({
        out: '',
        err: "payment-gateway-sdk: No gateway was ever used in scope ue. Pass your app's --scope and --table-prefix.\n",
        code: 1,
      });
    });

    it('shows a reference', async () => {
      const { payment } = await shop.gateway.createWithdrawal(PAYOUT_77);
      const { out, code } = await run(['show', 'payout-77']);
      expect(out).toMatch(/asked for +WITHDRAWAL by SEPA, 120 EUR\n/);
      expect(out).toMatch(new RegExp(`payment +${payment.id}, PENDING when last seen\\n`));
      expect(code).toBe(0);
      const shown = JSON.parse((await run(['show', 'payout-77', '--json'])).out);
      expect(shown).toMatchObject({ state: 'created', paymentId: payment.id });
      expect(await run(['show', 'payout-9'])).toEqual({
        out: '',
        err: 'payment-gateway-sdk: The store has no reference "payout-9" in scope eu. Pass your app\'s --scope and --table-prefix.\n',
        code: 1,
      });
      expect((await run(['show', 'payout-77', '--scope', 'us'])).err).toContain('in scope us. Pass your app');
    });

    it('settles with a payment, and names what differs in its own words', async () => {
      const id = await shop.doubt();
      const other = await shop.client().createWithdrawal({ ...PAYOUT_77, amount: '120.01', reference: 'PAYOUT-77' });
      const refused = await run(['settle', 'payout-77', other.payment.id]);
      expect(refused.code).toBe(1);
      expect(refused.err).toContain('amount is "120.01" and not "120"');
      expect(refused.err).toContain('pass --despite reference amount');
      expect((await run(['settle', 'payout-77', OTHER_ID])).code).toBe(1);
      expect(refused.err).toMatch(/^payment-gateway-sdk: .*paymentId: differs from the create: reference is .*\.\n$/);
      const despite = ['--despite', 'reference', 'amount'];
      const settled = await run(['settle', 'payout-77', other.payment.id, ...despite, '--json']);
      const known = { state: 'created', paymentId: other.payment.id };
      // Nothing else is printed.
      expect([settled.code, JSON.parse(settled.out)]).toMatchObject([0, known]);
      expect(await shop.gateway.find('payout-77')).toMatchObject(known);
      expect((await run(['settle', 'payout-77', id])).code).toBe(1);
    });

    it('frees a reference that has no payment, and not before its time', async () => {
      sandbox.faults.next('drop');
      await errorOf(shop.gateway.createWithdrawal(PAYOUT_77));
      const early = await run(['settle', 'payout-77', 'not_created'], { PAYMENT_GATEWAY_SETTLE_MARGIN: '60000' });
      expect([early.code, early.err]).toEqual([1, expect.stringContaining("'not_created' is refused until")]);
      await shop.age();
      const { out, code } = await run(['settle', 'payout-77', 'not_created']);
      expect([code, out]).toEqual([0, expect.stringContaining('free, without a payment')]);
      expect((await run(['settle', 'payout-77', 'not_created'])).err).toMatch(
        /^payment-gateway-sdk: .*reference: is free: .* Create it again\.\n$/,
      );
      expect(await shop.gateway.find('payout-77')).toMatchObject({ state: 'freed' });
    });

    it('shows the store and closes reviews without any key: an operator need not be able to pay', async () => {
      const id = await shop.doubt();
      await shop.age();
      const keyless = { PAYMENT_GATEWAY_URL: '', PAYMENT_GATEWAY_API_KEY: '', PAYMENT_GATEWAY_SIGN_KEY: '' };
      expect(await run(['doubts'], keyless)).toMatchObject({ code: 1, out: expect.stringContaining('payout-77') });
      expect(await run(['show', 'payout-77'], keyless)).toMatchObject({ code: 0, err: '' });
      const settled = await run(['settle', 'payout-77', id], keyless);
      expect(settled).toMatchObject({ code: 2, err: expect.stringContaining('PAYMENT_GATEWAY_URL') });
      const stray = await shop.review();
      expect(await run(['resolve', stray, 'COMPLETED'], keyless)).toMatchObject({ code: 0, err: '' });
      expect(sandbox.payments.map(payment => payment.id)).toContain(id);
    });

    const DOWN = '127.0.0.1:1. Check the database.';
    it.each<[string, string[], Record<string, string>, string]>([
      ['a payment that is none', ['settle', 'a', 'garbage'], {}, '"garbage" is not a payment id: pass'],
      ['no scope', ['doubts'], { PAYMENT_GATEWAY_SCOPE: '' }, 'scope'],
      ['no database', ['doubts'], { DATABASE_URL: '' }, 'DATABASE_URL is missing'],
      ['no keys', ['settle', 'payout-1', 'not_created'], { PAYMENT_GATEWAY_SIGN_KEY: '' }, 'PAYMENT_GATEWAY_SIGN_KEY'],
      [
        'no such table',
        ['doubts', '--table-prefix', 'nowhere'],
        {},
        '"nowhere_rows" does not exist: call migrate(), or correct tablePrefix. Check',
      ],
      ['another database', ['doubts'], { DATABASE_URL: 'mssql://u@127.0.0.1/x' }, 'must begin with postgres:// or'],
      ['a MySQL that is down', ['doubts'], { DATABASE_URL: 'mysql://u:s3cr3t@127.0.0.1:1/x' }, DOWN],
      ['a database that is down', ['doubts'], { DATABASE_URL: 'postgres://u:s3cr3t@127.0.0.1:1/x' }, DOWN],
    ])('says in one line what is wrong: %s', async (_, args, changes, message) => {
      await shop.plan('payout-1');
      const { err, out, code } = await run(args, changes);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(message);
      expect(err).toMatch(/^payment-gateway-sdk: [^\n]*\.\n$/);
      expect(err).not.toMatch(/s3cr3t|sandbox-sign-key/);
    });

    it.skipIf(lacks(hasOwnMariadb, 'the command over MySQL: no mariadbd'))('works with mysql2 over MySQL', async () => {
      const { MYSQL, mysqlPool } = await import('../support/mysql-stores.ts');
      const own = mysqlPool();
      const { tablePrefix } = shop;
      const store = mysqlStore(own, { scope: 'eu', tablePrefix, settleMargin: 0 });
      await store.migrate();
      onTestFinished(async () => {
        await own.query(`drop table ${tablePrefix}_rows`);
        await own.end();
      });
      shop.gateway = shop.client(store) as typeof shop.gateway;
      const id = await shop.doubt();
      await own.query(`update ${tablePrefix}_rows set begun_at = begun_at - interval 1 day`);
      const placeOf = (scheme: string) => ({
        DATABASE_URL: `${scheme}://${MYSQL.user}@${MYSQL.host}:${MYSQL.port}/${MYSQL.database}`,
      });
      for (const scheme of ['mysql', 'mariadb']) {
        const { out, code } = await run(['doubts'], placeOf(scheme));
        expect([code, out]).toEqual([1, expect.stringContaining('payout-77')]);
      }
      expect(await run(['settle', 'payout-77', id], placeOf('mysql'))).toMatchObject({
        out: expect.stringMatching(`payment +${id}`),
        code: 0,
      });
      const { err, code } = await run(['doubts', '--table-prefix', 'none'], placeOf('mysql'));
      expect([code, err]).toEqual([2, expect.stringMatching(/doesn't exist: call migrate\(\), .*\.\n$/)]);
    });

    it.skipIf(lacks(isInstalled('postgres'), 'the command over postgres.js: npm install in test/tools failed'))(
      'works with postgres.js where the app has no pg',
      async () => {
        const app = mkdtempSync(join(tmpdir(), 'app-'));
        onTestFinished(() => rmSync(app, { recursive: true }));
        mkdirSync(join(app, 'node_modules'));
        symlinkSync(tool('postgres'), join(app, 'node_modules/postgres'), 'junction');
        const id = await shop.doubt();
        await shop.age();
        expect(await run(['doubts'], {}, app)).toMatchObject({ out: expect.stringContaining('payout-77'), code: 1 });
        expect(await run(['settle', 'payout-77', id], {}, app)).toMatchObject({
          out: expect.stringMatching(`payment +${id}`),
          code: 0,
        });
        const down = { DATABASE_URL: 'postgres://u:s3cr3t@127.0.0.1:1/x' };
        expect(await run(['doubts'], down, app)).toMatchObject({
          err: expect.stringMatching(/^payment-gateway-sdk: [^\n]*ECONNREFUSED[^\n]*\n$/),
          code: 2,
        });
      },
    );
  },
);
