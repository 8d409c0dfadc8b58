// The operator's command line as an operator runs it: real processes, a real database, a real gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { GatewayClient } from 'payment-gateway-sdk';
import { mysqlJournal } from 'payment-gateway-sdk/mysql';
import { type PostgresJournalOptions, postgresJournal } from 'payment-gateway-sdk/postgres';
import { type Fault, Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { errorOf, OTHER_ID, PAYOUT } from '../support/fixtures.ts';
import { folder, hasOrms } from '../support/install-orms.ts';
import { hasOwnMariadb } from '../support/own-mariadb.ts';
import { FROM_SOURCE } from '../support/processes.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Vitest asks its children for colours. */
const { FORCE_COLOR, ...environment } = process.env;

describe.skipIf(lacks(hasPostgres, 'the operator’s command line: no PostgreSQL at 127.0.0.1:5432'))(
  'payment-gateway-sdk',
  () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const { apiKey, signKey } = sandbox.clientOptions;
    let server: { url: string; close(): Promise<void> };
    let pool: pg.Pool;
    let table: string;
    let gateway: GatewayClient;
    let env: Record<string, string>;

    beforeAll(async () => {
      pool = postgresPool();
      server = await sandbox.listen();
    });
    afterAll(async () => {
      await pool.end();
      await server.close();
    });
    beforeEach(async () => {
      sandbox.reset();
      table = uniqueName('cli');
      const journal = postgresJournal(pool, { table, settleMargin: 0 });
      await journal.migrate();
      gateway = new GatewayClient({ apiKey, signKey, baseUrl: server.url, journal });
      env = {
        DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/test',
        PAYMENT_GATEWAY_URL: server.url,
        PAYMENT_GATEWAY_API_KEY: apiKey,
        PAYMENT_GATEWAY_SIGN_KEY: signKey,
        PAYMENT_GATEWAY_JOURNAL_TABLE: table,
        PAYMENT_GATEWAY_SETTLE_MARGIN: '0',
      };
      return () => pool.query(`drop table ${table}`);
    });

    /** Runs it to its end. */
    async function run(args: string[], changes: Record<string, string> = {}, cwd?: string) {
      const child = spawn(process.execPath, [...FROM_SOURCE, cli, ...args], {
        env: { ...environment, ...env, ...changes },
        cwd,
      });
      const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      return { out, err, code };
    }

    const create = (changes: object = {}) =>
      gateway.createWithdrawal({
        paymentMethod: 'SEPA',
        amount: '120.00',
        currency: 'EUR',
        reference: 'payout-77',
        webhookUrl: 'https://shop.example/callbacks',
        ...changes,
      });
    async function doubt(changes: object = {}): Promise<string> {
      sandbox.faults.next('commit-then-drop');
      await errorOf(create(changes));
      return sandbox.payments.at(-1)?.id ?? '';
    }
    /** Time passes for all attempts, without a sleep. */
    const age = () => pool.query(`update ${table} set begun_at = begun_at - interval '1 day'`);

    it('lists doubts for people and for scripts, and its exit code tells whether there are any', async () => {
      expect(await run(['doubts'])).toEqual({ out: 'Nothing is in doubt.\n', err: '', code: 0 });
      await doubt();
      await doubt({ reference: 'payout-78\u001b[31m', amount: '9.5' });
      await age();
      const { out, code } = await run(['doubts']);
      expect(out).toMatch(/REFERENCE +SINCE +TYPE +METHOD +AMOUNT +STATE +SCOPE +PAYMENT\n/);
      expect(out).toMatch(/payout-77 +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +WITHDRAWAL +SEPA +120 EUR +in doubt +\w+ +-\n/);
      expect(out).toContain('payout-78·[31m');
      expect(out).not.toContain('\u001b');
      expect(code).toBe(1);
      const json = JSON.parse((await run(['--json', 'doubts'])).out);
      expect(json).toEqual(JSON.parse(JSON.stringify(await gateway.inDoubt())));
      expect(json).toMatchObject([{ reference: 'payout-77', amount: '120', underWay: false }, { amount: '9.5' }]);
    });

    it('shows a reference', async () => {
      const { payment } = await create();
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
        expect.stringContaining('has no reference "payout-9" in the default scope'),
      ]);
    });

    it('settles with a payment, and names what differs in its own words', async () => {
      const id = await doubt();
      const other = await new GatewayClient({ apiKey, signKey, baseUrl: server.url }).createWithdrawal({
        paymentMethod: 'SEPA',
        amount: '120.01',
        currency: 'EUR',
        reference: 'PAYOUT-77',
        webhookUrl: 'https://shop.example/callbacks',
      });
      const refused = await run(['settle', 'payout-77', other.payment.id]);
      expect(refused.code).toBe(1);
      expect(refused.err).toContain('amount is "120.01" and not "120"');
      expect(refused.err).toContain('pass --despite reference,amount');
      expect((await run(['settle', 'payout-77', OTHER_ID])).code).toBe(1);
      const settled = await run(['settle', 'payout-77', other.payment.id, '--despite', 'reference,amount']);
      expect([settled.code, settled.out]).toEqual([0, expect.stringContaining(other.payment.id)]);
      expect(await gateway.find('payout-77')).toMatchObject({ state: 'created', paymentId: other.payment.id });
      expect((await run(['settle', 'payout-77', id])).code).toBe(1);
    });

    it('frees a reference that has no payment, and not before its time', async () => {
      sandbox.faults.next('drop');
      await errorOf(create());
      const early = await run(['settle', 'payout-77', 'not_created'], { PAYMENT_GATEWAY_SETTLE_MARGIN: '60000' });
      expect([early.code, early.err]).toEqual([1, expect.stringContaining("'not_created' is refused until")]);
      await age();
      const { out, code } = await run(['settle', 'payout-77', 'not_created']);
      expect([code, out]).toEqual([0, expect.stringContaining('Free: the next create of payout-77 pays.')]);
      expect(await gateway.find('payout-77')).toMatchObject({ state: 'freed' });
    });

    it('lists the doubts of every scope unless one is named, and says in which a reference is', async () => {
      const journal = postgresJournal(pool, { table, scope: 'eu' });
      const eu = new GatewayClient({ apiKey, signKey, baseUrl: server.url, journal });
      gateway = eu;
      const id = await doubt();
      await age();
      const { out, code } = await run(['doubts']);
      expect([out, code]).toEqual([expect.stringMatching(/payout-77 .* in doubt +eu +-\n/), 1]);
      expect(await run(['doubts', '--scope', 'us'])).toMatchObject({ out: 'Nothing is in doubt.\n', code: 0 });
      for (const args of [
        ['show', 'payout-77'],
        ['settle', 'payout-77', id],
      ]) {
        const { err, code } = await run(args);
        expect([code, err]).toEqual([1, expect.stringContaining('Scope eu has it, in doubt: add --scope eu')]);
      }
      expect(await run(['settle', 'payout-77', id, '--scope', 'eu'])).toMatchObject({
        code: 0,
        out: expect.stringContaining(`Settled: payout-77 is payment ${id}.`),
      });
    });

    it('shows what the journal knows without any key: whoever watches doubts must not be able to pay', async () => {
      const id = await doubt();
      await age();
      const keyless = { PAYMENT_GATEWAY_URL: '', PAYMENT_GATEWAY_API_KEY: '', PAYMENT_GATEWAY_SIGN_KEY: '' };
      const [{ scope } = { scope: '' }] = JSON.parse((await run(['doubts', '--json'], keyless)).out);
      expect(await run(['show', 'payout-77', '--scope', scope], keyless)).toMatchObject({
        code: 0,
        out: expect.stringContaining('in doubt'),
      });
      expect(sandbox.payments.map(payment => payment.id)).toContain(id);
    });

    it.each<[string, string[], Record<string, string>, string]>([
      ['no command', [], {}, 'Which command? There are: doubts, show, settle, drain, sweep, help.'],
      ['a mistyped command', ['doubt'], {}, 'Did you mean doubts?'],
      ['a mistyped option', ['doubts', '--jsn'], {}, 'Did you mean --json?'],
      ['a mistyped difference', ['settle', 'a', 'b', '--despite', 'amuont'], {}, 'Did you mean amount?'],
      ['no reference', ['show'], {}, 'A reference is missing'],
      ['too much', ['show', 'a', 'b'], {}, '"b" is one argument too many'],
      ['despite elsewhere', ['show', 'a', '--despite', 'amount'], {}, '--despite is for settle, not for show.'],
      ['an app elsewhere', ['doubts', '--app', 'a'], {}, '--app is for drain and sweep, not for doubts.'],
      ['a limit that is none', ['drain', '--limit', 'all'], {}, '--limit must be a whole number.'],
      ['a limit of nothing', ['drain', '--limit', '0'], {}, '--limit must be 1 or more.'],
      ['a drain without a scope', ['drain'], {}, 'drain needs the scope of the journal: --scope <scope>'],
      ['a sweep without an app', ['sweep'], {}, 'pass --app <file>'],
      ['an app that is not there', ['drain', '--app', 'nowhere.js'], {}, 'nowhere.js cannot be loaded'],
      [
        'an app that is none',
        ['drain', '--app', fileURLToPath(import.meta.resolve('../support/ports.ts'))],
        {},
        'exports no gateway',
      ],
      ['no database', ['doubts'], { DATABASE_URL: '' }, 'DATABASE_URL is missing'],
      ['no keys', ['settle', 'a', 'not_created'], { PAYMENT_GATEWAY_SIGN_KEY: '' }, 'PAYMENT_GATEWAY_SIGN_KEY'],
      [
        'a margin that is none',
        ['doubts'],
        { PAYMENT_GATEWAY_SETTLE_MARGIN: 'soon' },
        'PAYMENT_GATEWAY_SETTLE_MARGIN must be milliseconds',
      ],
      ['no such table', ['doubts', '--table', 'nowhere'], {}, "Name the app's table with --table"],
      [
        'another database',
        ['doubts'],
        { DATABASE_URL: 'mssql://u@127.0.0.1/x' },
        'must begin with postgres:// or mysql://',
      ],
      ['a MySQL that is down', ['doubts'], { DATABASE_URL: 'mysql://u:s3cr3t@127.0.0.1:1/x' }, 'ECONNREFUSED'],
      ['a database that is down', ['doubts'], { DATABASE_URL: 'postgres://u:s3cr3t@127.0.0.1:1/x' }, 'ECONNREFUSED'],
    ])('says what is wrong: %s', async (_, args, changes, message) => {
      const { err, out, code } = await run(args, changes);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain(message);
      expect(err).toMatch(/^payment-gateway-sdk: [^\n]*\n$/);
      expect(err).not.toMatch(/s3cr3t|sandbox-sign-key/);
    });

    it.skipIf(lacks(hasOwnMariadb, 'the command over MySQL: no mariadbd'))('works with mysql2 over MySQL', async () => {
      const { MYSQL, mysqlPool } = await import('../support/mysql-stores.ts');
      const own = mysqlPool();
      const journal = mysqlJournal(own, { table });
      await journal.migrate();
      onTestFinished(async () => {
        await own.query(`drop table ${table}`);
        await own.end();
      });
      gateway = new GatewayClient({ apiKey, signKey, baseUrl: server.url, journal });
      const id = await doubt();
      await own.query(`update ${table} set begun_at = begun_at - interval 1 day`);
      const placeOf = (scheme: string) => ({
        DATABASE_URL: `${scheme}://${MYSQL.user}@${MYSQL.host}:${MYSQL.port}/${MYSQL.database}`,
      });
      for (const scheme of ['mysql', 'mariadb']) {
        const { out, code } = await run(['doubts'], placeOf(scheme));
        expect([code, out]).toEqual([1, expect.stringContaining('payout-77')]);
      }
      expect(await run(['settle', 'payout-77', id], placeOf('mysql'))).toMatchObject({
        out: expect.stringContaining(`Settled: payout-77 is payment ${id}.`),
        code: 0,
      });
      const { err, code } = await run(['doubts', '--table', 'none'], placeOf('mysql'));
      expect([code, err]).toEqual([2, expect.stringContaining('was migrate() called?')]);
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
        const id = await doubt();
        await age();
        expect(await run(['doubts'], {}, app)).toMatchObject({ out: expect.stringContaining('payout-77'), code: 1 });
        expect(await run(['settle', 'payout-77', id], {}, app)).toMatchObject({
          out: expect.stringContaining(`Settled: payout-77 is payment ${id}.`),
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
      const app = fileURLToPath(new URL('app.ts', import.meta.url));
      const plan = async (reference: string, options: PostgresJournalOptions = {}) => {
        const journal = postgresJournal(pool, { table, scope: 'eu', ...options });
        const client = await pool.connect();
        await client.query('begin');
        const request = { ...PAYOUT, paymentType: 'WITHDRAWAL', reference } as const;
        await journal.plan(client, request);
        await client.query('commit');
        client.release();
      };
      const linesOf = (out: string) =>
        out
          .trim()
          .split('\n')
          .map(line => JSON.parse(line));
      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const NONE = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };

      it('drains with the environment alone, and says what became of each in lines of JSON', async () => {
        const key = Buffer.alloc(32, 7).toString('base64');
        const changes = { PAYMENT_GATEWAY_JOURNAL_KEY: key, PAYMENT_GATEWAY_JOURNAL_SCOPE: 'eu' };
        await plan('payout-1', { encryptionKey: key });
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

      it.each<[string, Fault, object, number]>([
        ['that is refused', 'reject-422', { refused: 1 }, 1],
        ['that is in doubt', 'commit-then-drop', { inDoubt: 1 }, 1],
        ['that has to wait', 'reject-429', { postponed: 1 }, 2],
      ])('tells by its exit code of a create %s', async (_, fault, counts, exitCode) => {
        await plan('payout-1');
        sandbox.faults.next(fault);
        const { out, code } = await run(['drain', '--scope', 'eu', '--limit', '5']);
        expect([linesOf(out).at(-1), code]).toEqual([{ time, command: 'drain', ...NONE, ...counts }, exitCode]);
      });

      it('finishes what it drains though nobody reads what it prints any more', async () => {
        for (const reference of ['payout-1', 'payout-2', 'payout-3']) await plan(reference);
        // The reader is gone while the first create is under way.
        sandbox.faults.next('slow', { ms: 500 });
        const child = spawn(process.execPath, [...FROM_SOURCE, cli, 'drain', '--scope', 'eu'], {
          env: { ...environment, ...env },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        child.stdout.destroy();
        const [code] = await once(child, 'exit');
        expect([sandbox.payments.length, code]).toEqual([3, 0]);
        const { rows } = await pool.query(`select count(*)::int as left from ${table} where state <> 'created'`);
        expect(rows).toEqual([{ left: 0 }]);
      });

      it('drains and sweeps with the client and the handler of an app', async () => {
        await plan('payout-1');
        const drained = await run(['drain', '--app', app]);
        expect([linesOf(drained.out), drained.code]).toEqual([[{ time, command: 'drain', ...NONE, created: 1 }], 0]);
        const [made] = sandbox.payments;
        await sandbox.complete(made?.id ?? '');
        await sandbox.idle();
        // It has signed the address of its callbacks, as the app does.
        expect(gateway.checkCallbackUrl(sandbox.deliveries.at(-1)?.url ?? '')).toBeTypeOf('string');
        const failed = await run(['sweep', '--app', app, '--older-than', '0'], { FAILS: 'yes' });
        expect([linesOf(failed.out), failed.code]).toEqual([
          [{ time, command: 'sweep', processed: 0, open: 0, gaveUp: 0, failed: 1 }],
          2,
        ]);
        await pool.query(`update ${table} set due_at = now()`);
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
        expect([code, err]).toEqual([2, expect.stringContaining('was journal.migrate() called?')]);
        expect(err).not.toContain('DATABASE_URL');
      });

      it('ends on SIGTERM with what has begun, and says what it did', async () => {
        const child = spawn(process.execPath, [...FROM_SOURCE, cli, 'drain', '--follow', '--scope', 'eu'], {
          env: { ...environment, ...env },
        });
        const out = text(child.stdout);
        await plan('payout-1');
        await expect.poll(() => sandbox.payments.length, { timeout: 10_000 }).toBe(1);
        await plan('payout-2');
        sandbox.faults.next('slow', { ms: 800 });
        await plan('payout-3');
        await expect.poll(() => sandbox.payments.length, { timeout: 10_000 }).toBe(3);
        child.kill('SIGTERM');
        const [code] = await once(child, 'exit');
        expect([linesOf(await out).at(-1), code]).toEqual([{ time, command: 'drain', ...NONE, created: 3 }, 0]);
      });
    });

    it('needs the driver of the app', async () => {
      const { err, code } = await run(['doubts'], {}, '/');
      expect([code, err]).toEqual([2, expect.stringContaining('npm install pg')]);
    });
  },
);
