// The operator's command line over a real database and a real gateway, in this process; cli.test.ts starts it as an operator does.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mysqlJournal } from 'payment-gateway-sdk/mysql';
import { postgresJournal } from 'payment-gateway-sdk/postgres';
import type { Fault } from 'payment-gateway-sdk/sandbox';
import pg from 'pg';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { run as runCommand } from '../../src/cli/program.ts';
import { errorOf, OTHER_ID, record } from '../support/fixtures.ts';
import { folder, hasOrms } from '../support/install-orms.ts';
import { linesOf, NONE, OperatedShop, PAYOUT_77, time } from '../support/operator.ts';
import { hasOwnMariadb } from '../support/own-mariadb.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';

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
      expect(await run(['doubts'])).toEqual({ out: 'Nothing is in doubt.\n', err: '', code: 0 });
      await shop.doubt();
      await shop.doubt({ reference: 'payout-78\u001b[31m', amount: '9.5' });
      await shop.age();
      const { out, code } = await run(['doubts']);
      expect(out).toMatch(/REFERENCE +SINCE +TYPE +METHOD +AMOUNT +STATE +SCOPE +PAYMENT\n/);
      expect(out).toMatch(/payout-77 +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +WITHDRAWAL +SEPA +120 EUR +in doubt +\w+ +-\n/);
      expect(out).toContain('payout-78·[31m');
      expect(out).not.toContain('\u001b');
      expect(code).toBe(1);
      const json = JSON.parse((await run(['doubts', '--json'])).out);
      expect(json).toEqual(JSON.parse(JSON.stringify(await shop.gateway.inDoubt())));
      expect(json).toMatchObject([{ reference: 'payout-77', amount: '120', underWay: false }, { amount: '9.5' }]);
    });

    it('shows a reference', async () => {
      const { payment } = await shop.gateway.createWithdrawal(PAYOUT_77);
      const { out, code } = await run(['show', 'payout-77']);
      expect(out).toMatch(/asked for +WITHDRAWAL by SEPA, 120 EUR\n/);
      expect(out).toMatch(new RegExp(`payment +${payment.id}, PENDING when last seen\\n`));
      expect(code).toBe(0);
      expect(JSON.parse((await run(['show', 'payout-77', '--json'])).out)).toMatchObject({
        state: 'created',
        paymentId: payment.id,
      });
      const unknown = await run(['show', 'payout-9']);
      expect([unknown.code, unknown.err]).toEqual([
        1,
        'payment-gateway-sdk: The journal has no reference "payout-9" in the default scope, a hash of PAYMENT_GATEWAY_URL. Pass your app\'s --scope.\n',
      ]);
      await shop.doubt({ reference: 'payout-78' });
      const elsewhere = await run(['show', 'payout-9', '--scope', 'us']);
      expect([elsewhere.code, elsewhere.err]).toEqual([
        1,
        'payment-gateway-sdk: The journal has no reference "payout-9" in scope us. Pass your app\'s --scope.\n',
      ]);
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
      const settled = await run([
        'settle',
        'payout-77',
        other.payment.id,
        '--despite',
        'reference',
        'amount',
        '--json',
      ]);
      // Nothing else is printed.
      expect([settled.code, JSON.parse(settled.out)]).toMatchObject([
        0,
        { state: 'created', paymentId: other.payment.id },
      ]);
      expect(await shop.gateway.find('payout-77')).toMatchObject({ state: 'created', paymentId: other.payment.id });
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

    it('names every other scope that has doubts', async () => {
      for (const scope of ['eu', 'fr']) {
        shop.gateway = shop.client({ journal: postgresJournal(shop.pool, { table: shop.table, scope }) });
        await shop.doubt();
      }
      const { err } = await run(['doubts', '--scope', 'us']);
      expect(err).toMatch(/^payment-gateway-sdk: Other scopes have creates in doubt: (?:eu, fr|fr, eu)\.\n$/);
    });

    it('lists the doubts of every scope unless one is named, and says in which a reference is', async () => {
      shop.gateway = shop.client({ journal: postgresJournal(shop.pool, { table: shop.table, scope: 'eu' }) });
      const id = await shop.doubt();
      await shop.age();
      const { out, code } = await run(['doubts']);
      expect([out, code]).toEqual([expect.stringMatching(/payout-77 .* in doubt +eu +-\n/), 1]);
      expect(await run(['doubts', '--scope', 'us'])).toEqual({
        out: 'Nothing is in doubt in scope us.\n',
        err: 'payment-gateway-sdk: Other scopes have creates in doubt: eu.\n',
        code: 0,
      });
      expect(await run(['doubts', '--scope', 'eu'])).toMatchObject({ out, err: '', code: 1 });
      for (const args of [
        ['show', 'payout-77'],
        ['settle', 'payout-77', id],
      ]) {
        const { err, code } = await run(args);
        expect([code, err]).toEqual([1, expect.stringContaining('Scope eu has it, in doubt: add --scope eu')]);
      }
      await run(['settle', 'payout-77', 'not_created', '--scope', 'eu']);
      expect((await run(['show', 'payout-77'])).err).toContain('Scope eu has it, free, without a payment: add');
      expect(await run(['settle', 'payout-77', id, '--scope', 'eu'])).toMatchObject({
        code: 0,
        out: expect.stringMatching(`payment +${id}`),
      });
    });

    it('shows what the journal knows without any key: whoever watches doubts must not be able to pay', async () => {
      const id = await shop.doubt();
      await shop.age();
      const keyless = { PAYMENT_GATEWAY_URL: '', PAYMENT_GATEWAY_API_KEY: '', PAYMENT_GATEWAY_SIGN_KEY: '' };
      const [{ scope } = { scope: '' }] = JSON.parse((await run(['doubts', '--json'], keyless)).out);
      expect(await run(['show', 'payout-77', '--scope', scope], keyless)).toMatchObject({
        code: 0,
        out: expect.stringContaining('in doubt'),
      });
      expect(sandbox.payments.map(payment => payment.id)).toContain(id);
    });

    const DOWN = '127.0.0.1:1. Check the database.';
    it.each<[string, string[], Record<string, string>, string]>([
      ['a payment that is none', ['settle', 'a', 'garbage'], {}, '"garbage" is not a payment id: pass'],
      ['a drain without a scope', ['drain'], {}, 'drain needs --app <file>, or --scope <scope>.'],
      ['no database', ['doubts'], { DATABASE_URL: '' }, 'DATABASE_URL is missing'],
      ['no keys', ['settle', 'a', 'not_created'], { PAYMENT_GATEWAY_SIGN_KEY: '' }, 'PAYMENT_GATEWAY_SIGN_KEY'],
      ['no such table', ['doubts', '--table', 'nowhere'], {}, `"nowhere" does not exist. Pass your app's --table, or`],
      ['another database', ['doubts'], { DATABASE_URL: 'mssql://u@127.0.0.1/x' }, 'must begin with postgres:// or'],
      ['a MySQL that is down', ['doubts'], { DATABASE_URL: 'mysql://u:s3cr3t@127.0.0.1:1/x' }, DOWN],
      ['a database that is down', ['doubts'], { DATABASE_URL: 'postgres://u:s3cr3t@127.0.0.1:1/x' }, DOWN],
    ])('says in one line what is wrong: %s', async (_, args, changes, message) => {
      const { err, out, code } = await run(args, changes);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(message);
      expect(err).toMatch(/^payment-gateway-sdk: [^\n]*\.\n$/);
      expect(err).not.toMatch(/s3cr3t|sandbox-sign-key|migrate\(\) called/);
    });

    it.skipIf(lacks(hasOwnMariadb, 'the command over MySQL: no mariadbd'))('works with mysql2 over MySQL', async () => {
      const { MYSQL, mysqlPool } = await import('../support/mysql-stores.ts');
      const { table } = shop;
      const own = mysqlPool();
      const journal = mysqlJournal(own, { table });
      await journal.migrate();
      onTestFinished(async () => {
        await own.query(`drop table ${table}`);
        await own.end();
      });
      shop.gateway = shop.client({ journal });
      const id = await shop.doubt();
      await own.query(`update ${table} set begun_at = begun_at - interval 1 day`);
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
      const { err, code } = await run(['doubts', '--table', 'none'], placeOf('mysql'));
      expect([code, err]).toEqual([2, expect.stringMatching(/doesn't exist\. Pass your app's --table, [^?]*\n$/)]);
    });

    it('says what to install where the app has no driver of MySQL', async () => {
      const app = mkdtempSync(join(tmpdir(), 'app-'));
      onTestFinished(() => rmSync(app, { recursive: true }));
      const { err, code } = await run(['doubts'], { DATABASE_URL: 'mysql://root@127.0.0.1/x' }, app);
      expect([code, err]).toEqual([2, expect.stringContaining('npm install mysql2')]);
    });

    it.skipIf(lacks(hasOrms(), 'the command over postgres.js: npm ci in test/orms failed'))(
      'works with postgres.js where the app has no pg',
      async () => {
        const app = mkdtempSync(join(tmpdir(), 'app-'));
        onTestFinished(() => rmSync(app, { recursive: true }));
        mkdirSync(join(app, 'node_modules'));
        symlinkSync(join(folder, 'node_modules/postgres'), join(app, 'node_modules/postgres'), 'junction');
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

    describe('for a scheduler', () => {
      it('drains with the environment alone, and says what became of each in lines of JSON', async () => {
        const changes = { PAYMENT_GATEWAY_JOURNAL_SCOPE: 'eu' };
        await shop.plan('payout-1');
        const { out, err, code } = await run(['drain'], changes);
        const call = { callId: expect.any(String), operation: 'create', durationMs: expect.any(Number) };
        const event = { time, ...call, reference: 'payout-1', type: 'journal' };
        expect([linesOf(out), err, code]).toEqual([
          [
            { ...event, change: 'begun', attempt: 0 },
            { ...event, change: 'created', attempt: 1, paymentId: sandbox.payments[0]?.id },
            { time, command: 'drain', ...NONE, created: 1 },
          ],
          '',
          0,
        ]);
      });

      it('says in a line of its own what the gateway did otherwise', async () => {
        const server = createServer((_, response) => response.end(record('created, unwrapped')));
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        onTestFinished(() => void server.close());
        await shop.plan('payout-1');
        const { port } = server.address() as AddressInfo;
        const { out } = await run(['drain', '--scope', 'eu'], { PAYMENT_GATEWAY_URL: `http://127.0.0.1:${port}` });
        expect(linesOf(out).filter(({ type }) => type === 'warning')).toMatchObject([
          { time, code: 'create_mismatch', reference: 'payout-1' },
        ]);
        // Of the attempt itself there are no lines.
        expect(linesOf(out).map(({ type }) => type)).not.toContain('attempt');
      });

      it('says that another scope has plans which nobody drains, lest a mistyped scope looks like peace', async () => {
        await shop.plan('payout-1');
        const nothing = { out: expect.stringContaining('"created":0'), err: '', code: 0 };
        // They may be drained in a moment.
        expect(await run(['drain', '--scope', 'ue'])).toEqual(nothing);
        await shop.age();
        const told =
          "payment-gateway-sdk: Scope ue has no plans, and no drain serves these scopes: eu. Pass your app's --scope.\n";
        expect(await run(['drain', '--scope', 'ue'])).toEqual({ ...nothing, err: told });
        await shop.plan('payout-2', { scope: 'fr' });
        await shop.age();
        expect((await run(['drain', '--scope', 'ue'])).err).toMatch(
          /no drain serves these scopes: (?:eu, fr|fr, eu)\. /,
        );
        // A drain of another client has them, or they wait for their next try.
        const { rows } = await postgresJournal(shop.pool, { table: shop.table }).claim(
          { states: ['planned'] },
          2,
          60_000,
        );
        expect([rows.length, await run(['drain', '--scope', 'ue'])]).toEqual([2, nothing]);
      });

      it('says nothing of other scopes where its own has plans', async () => {
        await shop.plan('payout-1');
        await shop.plan('payout-1', { scope: 'uk' });
        await shop.age();
        expect(await run(['drain', '--scope', 'uk'])).toMatchObject({ err: '', code: 0 });
      });

      it.each<[string, Fault, object, number]>([
        ['that is refused', 'reject-422', { refused: 1 }, 1],
        ['that is in doubt', 'commit-then-drop', { inDoubt: 1 }, 1],
        ['that has to wait', 'reject-429', { postponed: 1 }, 2],
      ])('tells by its exit code of a create %s', async (_, fault, counts, exitCode) => {
        await shop.plan('payout-1');
        sandbox.faults.next(fault);
        const { out, code } = await run(['drain', '--scope', 'eu', '--limit', '5']);
        expect([linesOf(out).at(-1), code]).toEqual([{ time, command: 'drain', ...NONE, ...counts }, exitCode]);
      });
    });

    it('prints its help and its version, and needs nothing for it', async () => {
      const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
      const nothing = { DATABASE_URL: '' };
      expect(await run(['--version'], nothing)).toEqual({ code: 0, out: `${version}\n`, err: '' });
      for (const args of [['help'], ['doubts', '-h']])
        expect(await run(args, nothing)).toEqual({ code: 0, out: expect.stringMatching(/^Usage: /), err: '' });
      expect(await run([], nothing)).toEqual({ code: 2, out: '', err: expect.stringMatching(/^Usage: /) });
    });

    it('gives its connections back', async () => {
      for (const args of [['doubts'], ['show', 'payout-9']]) {
        const ended: unknown[] = [];
        const { end } = pg.Pool.prototype;
        vi.spyOn(pg.Pool.prototype, 'end').mockImplementation(function (this: pg.Pool) {
          ended.push(this);
          return Reflect.apply(end, this, []);
        } as never);
        await run(args);
        expect(ended).toHaveLength(1);
      }
    });

    it('quotes a database, with one full stop', async () => {
      vi.spyOn(pg.Pool.prototype, 'connect').mockImplementation(() => {
        throw new Error('Disk 1.0 is full.');
      });
      expect(await run(['doubts'])).toMatchObject({
        err: 'payment-gateway-sdk: Failed: Disk 1.0 is full. Check the database.\n',
        code: 2,
      });
    });

    it('does not hide what is thrown and is no error', async () => {
      vi.spyOn(pg.Pool.prototype, 'connect').mockImplementation(() => {
        throw 'gone';
      });
      expect(await errorOf(run(['doubts']))).toBe('gone');
    });

    it('needs the driver of the app', async () => {
      const { err, code } = await run(['doubts'], {}, '/');
      expect([code, err]).toEqual([2, expect.stringContaining('npm install pg')]);
    });
  },
);
