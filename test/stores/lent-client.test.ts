// What onPayment can do with the tx that postgresInbox lends it, and what it cannot.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { controlsTransaction } from '../../src/postgres/transaction-control.ts';
import { pick, seeded } from '../../src/testing/test-function.ts';
import { type Credits, completedEvent, openCreditedPool } from '../support/credits.ts';
import { errorOf } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';

/** What quotes, comments and ends statements, and what only looks like it. */
const PIECES = [
  ...["'", "''", "E'", "U&'", "n'x'", '\\', "\\'", '"', '$$', '$a$', '$é$', 'a$', '$1', 'é', '_', 'x', '1', ','],
  ...['--', '\n', '\r', '\t', '\u00a0', '/*', '/*', '*/', '*/', '-', '*', '/', ' ', ' ', ';', ';', ';'],
  ...['commit', 'COMMIT', 'end', 'abort', 'rollback', 'rollback transaction', 'commit and chain', 'end;'],
  ...['savepoint s', 'rollback to s', 'rollback work to s', 'release s', 'prepare p as select 1'],
  ...['select', 'select 1', "select '", 'as x', 'case when true then 1 end', 'do $$ begin null; end $$'],
  ...['create function pg_temp.f() returns int', 'begin atomic select 1; end'],
];

describe.skipIf(lacks(hasPostgres, 'the tx of postgresInbox: no PostgreSQL at 127.0.0.1:5432'))(
  'the tx of onPayment',
  () => {
    let observer: pg.Pool;
    let pool: pg.Pool;
    let credits: Credits;
    let close: () => Promise<void>;
    let event: ReturnType<typeof completedEvent>;

    beforeAll(async () => {
      ({ observer, pool, credits, close } = await openCreditedPool());
    });
    afterAll(() => close());
    beforeEach(() => {
      event = completedEvent();
    });

    const run = (work: (tx: pg.PoolClient) => Promise<unknown>) =>
      credits.inboxOf(pool).run(event, ({ tx }) => work(tx));
    const credit = (tx: pg.PoolClient) => credits.credit(tx, event.paymentId);
    const state = async () => ({
      credited: await credits.times(event.paymentId),
      marks: await credits.marksOf(event.paymentId),
    });

    const NOTHING = { credited: 0, marks: [] };
    const ONCE = { credited: 1, marks: ['COMPLETED'] };

    async function expectOnceNextTime(): Promise<void> {
      expect(await state()).toEqual(NOTHING);
      expect(await run(credit)).toBe('ran');
      expect(await run(credit)).toBe('already');
      expect(await state()).toEqual(ONCE);
    }

    describe('refuses to begin or to end a transaction, and nothing is kept of such an effect:', () => {
      const forms: Record<string, (tx: pg.PoolClient, text: string) => Promise<unknown>> = {
        'as text': (tx, text) => tx.query(text),
        'as { text }': (tx, text) => tx.query({ text }),
        'with values': (tx, text) => tx.query(text, []),
        'with a callback': (tx, text) =>
          new Promise((resolve, reject) => {
            tx.query(text, (error, result) => (error ? reject(error) : resolve(result)));
          }),
      };
      it.each([
        'BEGIN',
        'begin isolation level serializable',
        'START TRANSACTION',
        'start /* c */ transaction read only',
        'COMMIT',
        'commit and chain',
        '/* c */ CoMmIt',
        '-- c\ncommit;',
        ';; commit',
        'select 1; commit',
        "select ';'; end",
        'END',
        'end transaction',
        'ROLLBACK',
        'rollback work',
        'rollback and chain',
        'select $$;$$; abort',
        "select E'\\''; abort work",
        "select '\\'; commit",
        'savepoint a; rollback to a; rollback',
        "PREPARE TRANSACTION 'x'",
        "commit prepared 'x'",
        "rollback prepared 'x'",
      ])('%j', async text => {
        for (const [form, send] of Object.entries(forms)) {
          const error = await errorOf(
            run(async tx => {
              await credit(tx);
              await send(tx, text);
            }),
          );
          expect([form, String(error)]).toEqual([
            form,
            expect.stringMatching(/BEGIN, COMMIT and ROLLBACK are refused: .* use SAVEPOINT for a part that may fail/),
          ]);
        }
        await expectOnceNextTime();
      });

      it.each([
        ['a comment within a comment', '/* a /* b */ c */ COMMIT'],
        ['a comment that a carriage return ends', '-- a\rCOMMIT'],
        ['names with dollars', 'select 1 as a$b$; commit; select 1 as a$b$'],
      ])('also behind %s', (_, text) => {
        expect(controlsTransaction(text)).toBe(true);
      });
    });

    it('commits an effect that went on after such a refusal, with its mark', async () => {
      const result = await run(async tx => {
        await tx.query('COMMIT').catch(() => {});
        await credit(tx);
        await tx.query('ROLLBACK').catch(() => {});
      });
      expect([result, await state()]).toEqual(['ran', ONCE]);
    });

    it.each([
      ['ROLLBACK TO', 'RELEASE'],
      ['rollback to savepoint', 'release savepoint'],
      ['ROLLBACK WORK TO', 'RELEASE'],
      ['rollback transaction to savepoint', 'RELEASE'],
    ])('takes SAVEPOINT, %s and %s', async (rollbackTo, release) => {
      const result = await run(async tx => {
        await tx.query('SAVEPOINT mine');
        await credit(tx);
        await tx.query('select 1/0').catch(() => tx.query(`${rollbackTo} mine`));
        await credit(tx);
        await tx.query(`${release} mine`);
      });
      expect([result, await state()]).toEqual(['ran', ONCE]);
    });

    it.each<[text: string, values?: unknown[]]>([
      ["select 'commit'"],
      ["select ';commit;' as \"end\", ';rollback' as begin_at"],
      ["select E'\\';commit;', 'it''s; commit'"],
      ['select $1::text', ['COMMIT']],
      ['select 1 -- commit'],
      ['select 1 /* ; commit; */; -- ; end'],
      ['select case when true then 1 end'],
      ['prepare a_plan as select 1'],
      ['do $$ begin perform 1; end $$'],
      ['do $body$ begin null; end; $body$'],
      ['create temp table "commit" (start int, "end" int); comment on table "commit" is \'begin; commit; end\''],
      [
        "create function pg_temp.f() returns int language plpgsql as $$ begin return 1; end $$; comment on function pg_temp.f is 'end'",
      ],
      ["create function pg_temp.g() returns int language plpgsql as 'begin return 1; end'"],
    ])('takes %j, which only mentions such words', async (text, values) => {
      const result = await run(async tx => {
        await tx.query(text, values);
        await credit(tx);
      });
      expect([result, await state()]).toEqual(['ran', ONCE]);
    });

    it.each([
      ['a body in SQL', 'create function pg_temp.h() returns int begin atomic select 1; end'],
      ['a dollar quote with a letter beyond ASCII', 'do $é$ begin null; end; $é$'],
    ])('takes %s, which ends with such a word', (_, text) => {
      expect(controlsTransaction(text)).toBe(false);
    });

    it('is of one mind with Postgres on what ends a transaction, for 1,000 texts of random pieces', {
      timeout: 20_000,
    }, async () => {
      const random = seeded(20_261_122);
      const client = await observer.connect();
      const seen = { ended: 0, ran: 0 };
      for (let index = 0; index < 1_000; index++) {
        const pieces = Array.from({ length: 1 + Math.floor(random() * 9) }, () => pick(random, PIECES));
        const text = pieces.join(pick(random, [' ', '']));
        await client.query('begin; savepoint of_the_test');
        const xid = async () => (await client.query('select txid_current() as xid')).rows[0].xid;
        const before = await xid();
        const failed = await client.query(text).catch(() => true);
        // In a transaction that failed, only its own savepoint tells which it is.
        const isSame = await xid().then(
          after => after === before,
          () => client.query('rollback to of_the_test').catch(() => false),
        );
        await client.query('rollback; deallocate all; drop function if exists pg_temp.f');
        if (!isSame) {
          seen.ended += 1;
          expect([text, controlsTransaction(text)]).toEqual([text, true]);
        } else if (failed !== true) {
          seen.ran += 1;
          expect([text, controlsTransaction(text)]).toEqual([text, false]);
        }
      }
      client.release(true);
      expect(seen.ended).toBeGreaterThan(10);
      expect(seen.ran).toBeGreaterThan(50);
    });

    it('takes a text of 10 MB', () => {
      expect(controlsTransaction(`select '${'x'.repeat(1e7)}' as "end"`)).toBe(false);
    });

    it.each<[name: string, take: (tx: pg.PoolClient) => unknown]>([
      ['release', tx => tx.release()],
      ['end', tx => (tx as unknown as pg.Client).end()],
      ['connect', tx => (tx as unknown as pg.Client).connect()],
    ])('refuses %s, which is for the inbox to do', async (_, take) => {
      const taking = run(async tx => {
        await credit(tx);
        await take(tx);
      });
      await expect(taking).rejects.toThrow('the inbox releases it itself');
      await expectOnceNextTime();
    });

    it.each<[name: string, open: () => unknown]>([
      // As pg-cursor and pg-query-stream are.
      ['a cursor', () => ({ text: 'select 1', submit: () => {}, handleError: () => {}, read: () => {} })],
      ['a query object', () => new pg.Query('COMMIT')],
    ])('refuses %s, which would outlive the effect', async (_, open) => {
      const reading = run(async tx => {
        await credit(tx);
        await tx.query(open() as string);
      });
      await expect(reading).rejects.toThrow('read cursors and streams with a client of your own');
      await expectOnceNextTime();
    });

    it('is otherwise the client of the pool', async () => {
      const seen = await run(async tx => {
        expect(tx).toBeInstanceOf(pg.Client);
        expect(tx.escapeLiteral("it's")).toBe("'it''s'");
        const { rows } = await tx.query({ text: 'select $1::int + 1', rowMode: 'array' }, [1]);
        expect(rows).toEqual([[2]]);
        const listener = () => {};
        tx.on('notice', listener).removeListener('notice', listener);
        await credit(tx);
      });
      expect([seen, await state()]).toEqual(['ran', ONCE]);
    });

    describe('works no longer than onPayment does:', () => {
      const RETURNED =
        /onPayment has returned, or the connection broke. So tx takes no more queries: await every query/;
      const RAN = /onPayment returned while \d+ of its queries ran, so nothing was committed/;

      /** Other payments use the same client meanwhile. */
      async function payOthers(): Promise<void> {
        for (let index = 0; index < 20; index++) {
          const other = completedEvent();
          const result = await credits.inboxOf(pool).run(other, async ({ tx }) => {
            await tx.query('select pg_sleep(0.005)');
            await credits.credit(tx, other.paymentId);
          });
          expect([result, await credits.times(other.paymentId)]).toEqual(['ran', 1]);
        }
      }

      it('a branch of Promise.all that goes on after another has failed writes into no later transaction', async () => {
        let straggler: Promise<unknown> | undefined;
        const failing = run(async tx => {
          straggler = tx
            .query('select pg_sleep(0.03)')
            .then(() => delay(10))
            .then(() => credit(tx));
          await Promise.all([straggler, delay(5).then(() => Promise.reject(new Error('shop')))]);
        });
        const [error] = await Promise.all([errorOf(failing), failing.catch(payOthers)]);
        expect(String(error)).toBe('Error: shop');
        await expect(straggler).rejects.toThrow(RETURNED);
        await expectOnceNextTime();
      });

      it('an effect that lost a race against a time-out is not committed, and what is late is in no transaction', async () => {
        let late: Promise<unknown> | undefined;
        const racing = run(tx => {
          late = credit(tx)
            .then(() => tx.query('select pg_sleep(0.05)'))
            .then(() => credit(tx));
          return Promise.race([late, delay(20)]);
        });
        await expect(racing).rejects.toThrow(RAN);
        await payOthers();
        await expect(late).rejects.toThrow(RETURNED);
        await expectOnceNextTime();
      });

      it('an effect that a forEach started and nobody awaited is not committed', async () => {
        const started: Promise<unknown>[] = [];
        const running = run(async tx => {
          [1, 2, 3].forEach(() => {
            const pay = async () => {
              await tx.query('select 1');
              await credit(tx);
            };
            started.push(pay());
          });
          void Promise.allSettled(started);
        });
        await expect(running).rejects.toThrow(RAN);
        await payOthers();
        const refused = (await Promise.allSettled(started)).map(end => end.status === 'rejected' && String(end.reason));
        expect(refused).toEqual(Array(3).fill(expect.stringMatching(RETURNED)));
        await expectOnceNextTime();
      });

      it('queries with callbacks that still run are an error, too', async () => {
        const answered = Promise.withResolvers<void>();
        const running = run(async tx => {
          tx.query('select pg_sleep(0.01)', () => answered.resolve());
        });
        await expect(running).rejects.toThrow(RAN);
        await answered.promise;
        await expectOnceNextTime();
      });

      it('queries after it are refused, also while another payment has the client', async () => {
        const late: Promise<unknown>[] = [];
        const all = Array.from({ length: 20 }, completedEvent);
        const results = await Promise.all(
          all.map(({ paymentId, ...status }, index) =>
            credits.inboxOf(pool).run({ paymentId, ...status }, async ({ tx }) => {
              await credits.credit(tx, paymentId);
              await tx.query('select pg_sleep(0.005)');
              late.push(delay(index * 3).then(() => credits.credit(tx, paymentId)));
              late.push(
                delay(index * 3).then(
                  () =>
                    new Promise((resolve, reject) => {
                      const text = `insert into ${credits.table} values ($1)`;
                      tx.query(text, [paymentId], error => (error ? reject(error) : resolve(undefined)));
                    }),
                ),
              );
              void Promise.allSettled(late);
            }),
          ),
        );
        expect(results).toEqual(Array(20).fill('ran'));
        const refused = (await Promise.allSettled(late)).map(end => end.status === 'rejected' && String(end.reason));
        expect(refused).toEqual(Array(40).fill(expect.stringMatching(RETURNED)));
        for (const { paymentId } of all) expect(await credits.times(paymentId)).toBe(1);
      });
    });

    describe('an SQL error that onPayment ignored', () => {
      const IGNORED = 'onPayment ignored an SQL error, so nothing was committed, and the status is not marked.';

      it.each<[name: string, ignore: (tx: pg.PoolClient) => Promise<unknown>]>([
        ['by catch', tx => tx.query('select 1/0').catch(() => {})],
        ['by Promise.allSettled', tx => Promise.allSettled([tx.query('select 1/0'), tx.query('select 1')])],
        ['in a callback', tx => new Promise<void>(resolve => tx.query('select 1/0', () => resolve()))],
        [
          'before another one',
          async tx => {
            await tx.query('select 1/0').catch(() => {});
            await tx.query('select no_such_column').catch(() => {});
          },
        ],
      ])('%s, is the cause of the error, and nothing is committed', async (_, ignore) => {
        const error = await errorOf(
          run(async tx => {
            await credit(tx);
            await ignore(tx);
          }),
        );
        expect(error).toMatchObject({ message: expect.stringContaining(IGNORED), cause: { code: '22012' } });
        await expectOnceNextTime();
      });

      it('about a missing table of the merchant asks for no migrate()', async () => {
        const error = await errorOf(run(tx => tx.query('select * from no_such_table').catch(() => {})));
        expect(error).toMatchObject({
          message: `${IGNORED} Let the error pass, or use SAVEPOINT for a part that may fail.`,
          cause: { code: '42P01' },
        });
      });

      it('and that it has undone by a savepoint is none', async () => {
        const result = await run(async tx => {
          await credit(tx);
          await tx.query('savepoint mine');
          await tx.query('select 1/0').catch(() => tx.query('rollback to mine'));
        });
        expect([result, await state()]).toEqual(['ran', ONCE]);
      });
    });

    it('takes no query that pg refused at once for one that still runs', async () => {
      const result = await run(async tx => {
        await credit(tx);
        try {
          await tx.query(undefined as unknown as string);
        } catch {}
      });
      expect([result, await state()]).toEqual(['ran', ONCE]);
    });

    it('takes a callback as { text, callback }, as pg does', async () => {
      const result = await run(async tx => {
        await new Promise<void>((resolve, reject) => {
          const callback = (error: unknown) => (error ? reject(error) : resolve());
          tx.query({ text: `insert into ${credits.table} values ('${event.paymentId}')`, callback } as pg.QueryConfig);
        });
      });
      expect([result, await state()]).toEqual(['ran', ONCE]);
    });
  },
);
