import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { postgresInbox } from 'payment-gateway-sdk/postgres';
import { inboxSuite } from 'payment-gateway-sdk/testing';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Credits,
  completedEvent,
  completedPayment,
  openCallbacks,
  openCredits,
  type Queryable,
} from '../support/credits.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers, until, whileTimePasses } from '../support/passing-time.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';
import { openSwallowingProxy } from '../support/swallowing-proxy.ts';
import { watchedPool } from '../support/watched-pool.ts';

describe.skipIf(lacks(hasPostgres, 'postgresInbox: no PostgreSQL at 127.0.0.1:5432'))('postgresInbox', () => {
  let pool: pg.Pool;
  let other: pg.Pool;
  let credits: Credits;

  beforeAll(async () => {
    pool = postgresPool();
    other = postgresPool();
    credits = await openCredits(other);
  });
  afterAll(async () => {
    await credits.close();
    await Promise.all([pool.end(), other.end()]);
  });

  /** Runs a payment's credit. */
  const pay = (over: pg.Pool, event: ReturnType<typeof completedEvent>) =>
    credits.inboxOf(over).run(event, ({ tx }) => credits.credit(tx, event.paymentId));
  const stateOf = async ({ paymentId }: { paymentId: string }) => ({
    credited: await credits.times(paymentId),
    marks: await credits.marksOf(paymentId),
  });
  const NOTHING = { credited: 0, marks: [] };
  const ONCE = { credited: 1, marks: ['COMPLETED'] };

  inboxSuite({ test: it, make: () => [credits.inboxOf(pool), credits.inboxOf(other)] });

  it('commits the effect and the mark together', async () => {
    const event = completedEvent();
    await credits.inboxOf(pool).run(event, async ({ tx }) => {
      await credits.credit(tx, event.paymentId);
      expect(await stateOf(event)).toEqual(NOTHING);
    });
    expect([await stateOf(event), await pay(other, event)]).toEqual([ONCE, 'already']);
  });

  it('keeps nothing of an effect that throws', async () => {
    const event = completedEvent();
    const failing = credits.inboxOf(pool).run(event, async ({ tx }) => {
      await credits.credit(tx, event.paymentId);
      throw new Error('shop');
    });
    await expect(failing).rejects.toThrow('shop');
    expect(await stateOf(event)).toEqual(NOTHING);
    expect([await pay(pool, event), await stateOf(event)]).toEqual(['ran', ONCE]);
  });

  it('passes its transaction through the handler, typed', async () => {
    const { id } = completedPayment();
    const { deliver } = openCallbacks({
      inbox: credits.inboxOf(pool),
      onPayment: (payment, { tx }) => credits.credit(tx, payment.id),
    });
    expect([await deliver(id), await deliver(id)]).toEqual(['200 handled', '200 handled before']);
    expect(await credits.times(id)).toBe(1);
  });

  describe('whatever the session defaults to,', () => {
    async function settingInside(options: string, setting: string): Promise<string> {
      const strict = postgresPool({ options });
      const seen: unknown[] = [];
      const event = completedEvent();
      const look = async (db: Queryable) => {
        const { rows } = await db.query(`select current_setting($1) as setting`, [setting]);
        seen.push((rows[0] as { setting: unknown }).setting);
      };
      await credits.inboxOf(strict).run(event, async ({ tx }) => {
        await look(tx);
        await credits.credit(tx, event.paymentId);
      });
      expect(await stateOf(event)).toEqual(ONCE);
      await look(strict);
      await strict.end();
      return seen.join(', then ');
    }

    it('sees the marks that are committed by then', async () => {
      const isolation = (level: string) =>
        settingInside(`-c default_transaction_isolation=${level}`, 'transaction_isolation');
      expect(await isolation('serializable')).toBe('read committed, then serializable');
      expect(await isolation('repeatable\\ read')).toBe('read committed, then repeatable read');
    });

    it('can write', async () => {
      const setting = await settingInside('-c default_transaction_read_only=on', 'transaction_read_only');
      expect(setting).toBe('off, then on');
    });

    it.each([
      ['off', 'on, then off'],
      ['local', 'on, then local'],
      ['remote_write', 'on, then remote_write'],
      ['on', 'on, then on'],
      ['remote_apply', 'remote_apply, then remote_apply'],
    ])('commits durably: synchronous_commit = %s', async (level, expected) => {
      expect(await settingInside(`-c synchronous_commit=${level}`, 'synchronous_commit')).toBe(expected);
    });
  });

  it.each([
    ['that has no inbox', false],
    ['that has an inbox of its own', true],
  ])('marks an effect that goes to another schema %s', async (_, hasInbox) => {
    const schema = uniqueName('tenant');
    await pool.query(`create schema ${schema}`);
    if (hasInbox) await postgresInbox(pool, { table: `${schema}.${credits.marks}` }).migrate();
    const event = completedEvent();
    const result = credits.inboxOf(pool).run(event, async ({ tx }) => {
      await credits.credit(tx, event.paymentId);
      await tx.query(`set local search_path to ${schema}`);
    });
    await Promise.allSettled([result]);
    await pool.query(`drop schema ${schema} cascade`);
    expect([await result, await stateOf(event)]).toEqual(['ran', ONCE]);
  });

  it('does not mark an effect whose COMMIT fails at a deferred constraint', async () => {
    const [parent, child] = [uniqueName('parent'), uniqueName('child')];
    await pool.query(`create table ${parent} (id uuid primary key);
      create table ${child} (id uuid references ${parent} deferrable initially deferred)`);
    const event = completedEvent();
    const run = () =>
      credits.inboxOf(pool).run(event, async ({ tx }) => {
        await credits.credit(tx, event.paymentId);
        await tx.query(`insert into ${child} values ($1)`, [event.paymentId]);
      });
    expect(await errorOf(run())).toMatchObject({ code: '23503' });
    expect(await stateOf(event)).toEqual(NOTHING);
    await pool.query(`insert into ${parent} values ($1)`, [event.paymentId]);
    expect([await run(), await stateOf(event)]).toEqual(['ran', ONCE]);
    await pool.query(`drop table ${child}, ${parent}`);
  });

  it('survives a connection that is cut under the effect, and lets it run again', async () => {
    const event = completedEvent();
    const cut = credits.inboxOf(pool).run(event, async ({ tx }) => {
      await credits.credit(tx, event.paymentId);
      const { rows } = await tx.query('select pg_backend_pid() as pid');
      await other.query('select pg_terminate_backend($1)', [rows[0].pid]);
      await delay(50);
    });
    await expect(cut).rejects.toThrow();
    expect(await stateOf(event)).toEqual(NOTHING);
    expect([await pay(pool, event), await stateOf(event)]).toEqual(['ran', ONCE]);
  });

  describe('an effect that meets another one', () => {
    it('in a deadlock is repeated: both are credited once, and each afterCommit runs once, after its commit', async () => {
      const rows = uniqueName('rows');
      await pool.query(`create table ${rows} (id int primary key, n int); insert into ${rows} values (1, 0), (2, 0)`);
      const [one, two] = [completedPayment().id, completedPayment().id];
      const bothHaveOne = Promise.withResolvers<void>();
      const tries: string[] = [];
      const afterwards: unknown[] = [];
      const { deliver } = openCallbacks({
        inbox: credits.inboxOf(pool),
        onPayment: async ({ id }, { tx, afterCommit }) => {
          afterCommit(async () => afterwards.push([id, await credits.times(id)]));
          const add = (row: number) => tx.query(`update ${rows} set n = n + 1 where id = $1`, [row]);
          await add(id === one ? 1 : 2);
          if (tries.push(id) === 2) bothHaveOne.resolve();
          await bothHaveOne.promise;
          await add(id === one ? 2 : 1);
          await credits.credit(tx, id);
        },
      });
      expect(await Promise.all([deliver(one), deliver(two)])).toEqual(['200 handled', '200 handled']);
      // On a busy machine they may meet again.
      expect(tries.length).toBeGreaterThan(2);
      expect(afterwards).toHaveLength(2);
      expect(new Map(afterwards as [])).toEqual(
        new Map([
          [one, 1],
          [two, 1],
        ]),
      );
      expect((await pool.query(`select n from ${rows}`)).rows).toEqual([{ n: 2 }, { n: 2 }]);
      expect([await credits.times(one), await credits.times(two)]).toEqual([1, 1]);
      await pool.query(`drop table ${rows}`);
    });

    const raise = (tx: Queryable, code: string) =>
      tx.query(`do $$ begin raise exception 'met another' using errcode = '${code}'; end $$`);

    it.each<[name: string, fail: (tx: Queryable) => Promise<unknown>]>([
      ['a serialisation failure', tx => raise(tx, '40001')],
      ['a deadlock', tx => raise(tx, '40P01')],
      [
        'one inside the error of an ORM',
        tx =>
          raise(tx, '40001').catch(cause => {
            throw new Error('Failed query', { cause });
          }),
      ],
    ])('is repeated after %s', async (_, fail) => {
      const event = completedEvent();
      let tries = 0;
      const result = await credits.inboxOf(pool).run(event, async ({ tx }) => {
        await credits.credit(tx, event.paymentId);
        tries += 1;
        if (tries < 4) await fail(tx);
      });
      expect([result, tries, await stateOf(event)]).toEqual(['ran', 4, ONCE]);
    });

    it('is given up after ten tries, and may come again', async () => {
      const event = completedEvent();
      let tries = 0;
      const running = credits.inboxOf(pool).run(event, async ({ tx }) => {
        tries += 1;
        await raise(tx, '40001');
      });
      expect(await errorOf(running)).toMatchObject({ code: '40001' });
      expect([tries, await stateOf(event)]).toEqual([10, NOTHING]);
      expect([await pay(pool, event), await stateOf(event)]).toEqual(['ran', ONCE]);
    });
  });

  it('runs afterCommit not before the commit, not after a rollback, and not for what took effect before', async () => {
    const { id } = completedPayment();
    let calls = 0;
    let mayCommit = false;
    const { deliver } = openCallbacks({
      inbox: credits.inboxOf(pool),
      onPayment: async (payment, { tx, afterCommit }) => {
        afterCommit(() => {
          calls += 1;
        });
        await credits.credit(tx, payment.id);
        // What runs too early has run by now.
        await delay(20);
        expect(calls).toBe(0);
        if (!mayCommit) throw new Error('shop');
      },
    });
    expect([await deliver(id), calls]).toEqual(['503 failed', 0]);
    mayCommit = true;
    expect([await deliver(id), calls]).toEqual(['200 handled', 1]);
    expect([await deliver(id), calls]).toEqual(['200 handled before', 1]);
  });

  describe('a payment that another replica has', () => {
    async function enter() {
      const event = completedEvent();
      const [entered, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const running = credits.inboxOf(other).run(event, async ({ tx }) => {
        entered.resolve();
        await leave.promise;
        await credits.credit(tx, event.paymentId);
      });
      await entered.promise;
      return { event, running, leave: leave.resolve };
    }

    /** A pool, and a promise that its inbox has found the payment locked. The pause after that ends when the test says so. */
    function finding() {
      fakeTimers();
      const found = Promise.withResolvers<void>();
      const watched = watchedPool(pool, async (text, _values, send) => {
        const answer = await send();
        if (text.includes('pg_try_advisory_xact_lock')) found.resolve();
        return answer;
      });
      return { watched, found: found.promise };
    }

    it('is waited for, for a moment', async () => {
      const { event, running, leave } = await enter();
      const { watched, found } = finding();
      const waiting = pay(watched, event);
      await found;
      leave();
      expect(await running).toBe('ran');
      vi.advanceTimersByTime(20);
      expect([await waiting, await stateOf(event)]).toEqual(['already', ONCE]);
    });

    it('gets the next status as soon as it is left', async () => {
      const { event, running, leave } = await enter();
      const { watched, found } = finding();
      const refunded = { ...event, status: 'REFUNDED', seen: [{ status: 'COMPLETED', final: true }] };
      const waiting = credits.inboxOf(watched).run(refunded, async () => {});
      await found;
      leave();
      expect(await running).toBe('ran');
      vi.advanceTimersByTime(20);
      expect(await waiting).toBe('ran');
    });

    it('is busy after that moment', async () => {
      const { event, running, leave } = await enter();
      expect(await pay(pool, event)).toBe('busy');
      leave();
      expect(await running).toBe('ran');
    });
  });

  it('holds at most half of the pool with all its tables, so that onPayment may take from it too', {
    timeout: 15_000,
  }, async () => {
    const small = postgresPool({ max: 4 });
    const more = await openCredits(small);
    let [inside, most] = [0, 0];
    const events = Array.from({ length: 20 }, completedEvent);
    const results = await Promise.all(
      events.map((event, index) =>
        [credits, more][index % 2]?.inboxOf(small).run(event, async ({ tx }) => {
          inside += 1;
          most = Math.max(most, inside);
          await Promise.all([small.query('select pg_sleep(0.01)'), small.query('select pg_sleep(0.01)')]);
          await credits.credit(tx, event.paymentId);
          inside -= 1;
        }),
      ),
    );
    expect([most, ...results]).toEqual([2, ...Array(20).fill('ran')]);
    for (const { paymentId } of events) expect(await credits.times(paymentId)).toBe(1);
    await more.close();
    await small.end();
  });

  it('refuses a table name that is none', () => {
    for (const name of ['', 'a b', 'inbox; drop table x', 'a.b.c', '"x"', '1a']) {
      expect(() => postgresInbox(pool, { table: name })).toThrow('table must be a plain name');
    }
  });

  describe('has an end for every wait:', () => {
    /** The error of what waits for nothing but its limits, which pass now. Time is real again after that. */
    async function lateError(running: Promise<unknown>): Promise<Error> {
      const error = await whileTimePasses(errorOf(running), 100);
      vi.useRealTimers();
      return error as Error;
    }

    /** A pool behind a proxy that can lose every byte. */
    async function openFar(options?: pg.PoolConfig) {
      const proxy = await openSwallowingProxy(5432);
      const far = postgresPool({ port: proxy.port, max: 2, ...options });
      onTestFinished(async () => {
        await far.end();
        proxy.close();
      });
      return { proxy, far, isLost: () => until(() => proxy.lost > 0) };
    }

    it('for a pool that onPayment has used up, and what it gets too late goes back', async () => {
      const small = postgresPool({ max: 2 });
      const taken = await Promise.all([small.connect(), small.connect()]);
      const event = completedEvent();
      fakeTimers();
      const running = pay(small, event);
      await until(() => small.waitingCount === 1);
      const { message } = await lateError(running);
      expect(message).toContain('No transaction began within 5000 ms: increase the `max` of the pool');
      for (const client of taken) client.release();
      expect(await pay(small, event)).toBe('ran');
      await expect.poll(() => [small.waitingCount, small.idleCount]).toEqual([0, small.totalCount]);
      await small.end();
    });

    it('for a second connection of a pool that has only one', async () => {
      const one = postgresPool({ max: 1 });
      const event = completedEvent();
      fakeTimers();
      const stuck = credits.inboxOf(one).run(event, async ({ tx }) => {
        await credits.credit(tx, event.paymentId);
        await one.query('select 1');
      });
      await until(() => one.waitingCount === 1);
      vi.advanceTimersByTime(20_000);
      vi.useRealTimers();
      const { message } = (await errorOf(stuck)) as Error;
      expect(message).toContain('a second connection never comes where the pool has only one');
      expect([await pay(one, event), await stateOf(event)]).toEqual(['ran', ONCE]);
      await one.end();
    });

    it('for handler.process of another payment inside onPayment, at full load', async () => {
      const small = postgresPool({ max: 4 });
      const payments = Array.from({ length: 6 }, () => completedPayment().id);
      const others = new Map(payments.map(id => [id, completedPayment().id]));
      const { deliver, handler } = openCallbacks({
        inbox: credits.inboxOf(small),
        onPayment: async ({ id }, { tx }) => {
          await credits.credit(tx, id);
          const another = others.get(id);
          if (another) await handler.process(another);
        },
      });
      fakeTimers();
      const answers: string[] = [];
      for (const id of payments) deliver(id).then(answer => answers.push(answer));
      const answersLater = async () => {
        await vi.advanceTimersByTimeAsync(500);
        return answers.length;
      };
      await expect.poll(answersLater).toBe(6);
      vi.useRealTimers();
      expect(answers.filter(answer => answer !== '503 failed' && answer !== '200 handled')).toEqual([]);
      for (const id of payments) expect(await deliver(id)).toMatch(/^200 handled/);
      for (const id of [...others].flat()) expect(await credits.times(id)).toBe(1);
      await small.end();
    });

    it('for a database that stopped before the effect', async () => {
      const { proxy, far, isLost } = await openFar();
      expect(await pay(far, completedEvent())).toBe('ran');
      const event = completedEvent();
      proxy.swallow();
      fakeTimers();
      const running = pay(far, event);
      await isLost();
      const { message } = await lateError(running);
      expect(message).toContain(
        'No transaction began within 5000 ms: increase the `max` of the pool (of mysql2: `connectionLimit`), or look whether the database answers',
      );
      proxy.pass();
      expect([await pay(far, event), await stateOf(event)]).toEqual(['ran', ONCE]);
      expect([far.totalCount, far.idleCount, far.waitingCount]).toEqual([1, 1, 0]);
    });

    it('for a database that stopped after the effect, which is lost with its mark', async () => {
      const { proxy, far, isLost } = await openFar();
      const event = completedEvent();
      fakeTimers();
      const running = credits.inboxOf(far).run(event, async ({ tx }) => {
        await credits.credit(tx, event.paymentId);
        proxy.swallow();
      });
      await isLost();
      const { message } = await lateError(running);
      expect(message).toBe('The database did not answer within 5000 ms.');
      expect(await stateOf(event)).toEqual(NOTHING);
      proxy.pass();
      expect([await pay(far, event), await stateOf(event)]).toEqual(['ran', ONCE]);
    });

    it("for a database that stopped in the middle of the effect, by the pool's own query_timeout", async () => {
      const { proxy, far, isLost } = await openFar({ query_timeout: 2_000 });
      const event = completedEvent();
      fakeTimers();
      const running = credits.inboxOf(far).run(event, async ({ tx }) => {
        await tx.query('select 1');
        proxy.swallow();
        await credits.credit(tx, event.paymentId);
      });
      await isLost();
      const { message } = await lateError(running);
      expect(message).toContain('Query read timeout');
      proxy.pass();
      expect([await pay(far, event), await stateOf(event)]).toEqual(['ran', ONCE]);
    });
  });

  it('migrates at every start, in every replica at once, in a schema of its own', async () => {
    const schema = uniqueName('schema');
    await pool.query(`create schema ${schema}`);
    const inboxes = Array.from({ length: 8 }, () => postgresInbox(pool, { table: `${schema}.inbox` }));
    await Promise.all(inboxes.map(inbox => inbox.migrate()));
    await inboxes[0]?.migrate();
    const columns = await pool.query(
      'select column_name, data_type, is_nullable from information_schema.columns where table_schema = $1 order by ordinal_position',
      [schema],
    );
    expect(
      columns.rows.map(({ column_name, data_type, is_nullable }) => `${column_name} ${data_type} ${is_nullable}`),
    ).toEqual([
      'payment_id uuid NO',
      'status text NO',
      'final boolean NO',
      'begun_at timestamp with time zone NO',
      'handled_at timestamp with time zone YES',
    ]);
    await pool.query(`drop schema ${schema} cascade`);
  });

  it('prints the SQL that its page shows', () => {
    const document = readFileSync(new URL('../../docs/callbacks.md', import.meta.url), 'utf8');
    expect(document).toContain(`\`\`\`sql\n${postgresInbox(pool).ddl()}\`\`\``);
  });
});
