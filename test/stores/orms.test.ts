// The stores in Postgres over every library that merchants have, each with the real library and the real server.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayClient, type JournalRow } from 'payment-gateway-sdk';
import {
  type PostgresDatabase,
  type PostgresInbox,
  postgresInbox,
  postgresJournal,
  type SqlDatabase,
} from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { inboxSuite, journalSuite, sqlDatabaseSuite, type TestFunction } from 'payment-gateway-sdk/testing';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { completedEvent, completedPayment, openCallbacks } from '../support/credits.ts';
import { expectDocumented, tableOf } from '../support/documents.ts';
import { PAYOUT } from '../support/fixtures.ts';
import { hasOrms } from '../support/install-orms.ts';
import { type Handle, type OpenOrm, type Orm, type OrmOptions, orms, versionsOf } from '../support/orms.ts';
import { isCi, lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const missing =
  lacks(hasPostgres, 'ORMs: no PostgreSQL at 127.0.0.1:5432') || lacks(hasOrms(), 'ORMs: npm ci in test/orms failed');
lacks(isCi, 'Prisma, deadlocks and the slow part of the suites over every ORM, which CI plays');

const SLOW = /in any order of creates|busy while another/;

/** A row of a journal. */
const ROW: JournalRow = {
  scope: '',
  reference: '',
  state: 'begun',
  attemptId: randomUUID(),
  begunAt: 0,
  timeoutMs: 60_000,
  paymentType: 'WITHDRAWAL',
  paymentMethod: 'SEPA',
  amount: '25.5',
  currency: 'EUR',
  bodyHash: 'hash',
  conflictingIds: [],
  looks: 0,
  revision: 1,
};

/** For each library, the proofs that passed, in the order of the suite. */
const proven = new Map<Orm, string[]>();

describe.skipIf(missing).each(orms.map(orm => ({ orm, name: orm.name })))('$name', ({ orm }) => {
  const [marks, table, journalTable] = [uniqueName('marks'), uniqueName('credits'), uniqueName('journal')];
  let observer: pg.Pool;
  let opened: OpenOrm;
  let other: OpenOrm;
  let inbox: PostgresInbox<unknown>;

  const open = async (options: Omit<OrmOptions, 'table'> = {}) => {
    const own = await orm.open({ table, ...options });
    onTestFinished(async () => void (await own.close()));
    return own;
  };
  const inboxOf = ({ database }: OpenOrm): PostgresInbox<unknown> => postgresInbox(database, { table: marks });

  beforeAll(async () => {
    observer = postgresPool();
    opened = await orm.open({ table });
    other = await orm.open({ table });
    await Promise.all([inboxOf(opened), inboxOf(other)].map(each => each.migrate()));
    await journalOf(opened).migrate();
    await observer.query(`create table ${table} (payment_id uuid not null)`);
    inbox = inboxOf(opened);
  });
  afterAll(async () => {
    await Promise.all([opened?.close(), other?.close()]);
    await observer.query(`drop table ${marks}, ${table}, ${journalTable}`);
    await observer.end();
  });

  let id: string;
  beforeEach(() => {
    id = randomUUID();
  });
  const event = () => ({ ...completedEvent(), paymentId: id });
  const run = (work: (tx: Handle) => Promise<unknown>, of = opened) =>
    inboxOf(of).run(event(), ({ tx }) => work(of.over(tx)));
  const credit = (of = opened) => run(tx => tx.credit(id), of);
  const state = async (of: string = id) => {
    const credited = await observer.query(`select count(*)::int as times from ${table} where payment_id = $1`, [of]);
    const { rows } = await observer.query(`select handled_at from ${marks} where payment_id = $1`, [of]);
    return { credited: credited.rows[0].times, marks: rows.map(row => (row.handled_at ? 'done' : 'begun')).join() };
  };
  const NOTHING = { credited: 0, marks: '' };
  const ONCE = { credited: 1, marks: 'done' };

  /** A promise of the table in the docs. */
  function proof(name: string, promise: string, test: () => Promise<void>): void {
    it(promise, async () => {
      await test();
      const proofs = proven.get(orm) ?? [];
      proven.set(orm, [...proofs, ...(proofs.includes(name) ? [] : [name])]);
    });
  }

  /** What takes long is for CI. */
  const test: TestFunction = (name, run) => (isCi || !SLOW.test(name) ? it : it.skip)(name, run);

  inboxSuite({ test, make: () => [inboxOf(opened), inboxOf(other)] });
  const journalOf = ({ database }: OpenOrm) => postgresJournal(database, { table: journalTable });
  journalSuite({ test, make: () => [journalOf(opened), journalOf(other)] });

  // A pool is made one by the stores themselves.
  if (orm.name !== '`pg`') {
    sqlDatabaseSuite<unknown>({
      test,
      make: () => opened.database as SqlDatabase<unknown>,
      execute: (tx, sql) => opened.over(tx).sql(sql),
    });
  }

  it('writes into a journal within the effect, which keeps or undoes it', async () => {
    const journal = journalOf(opened);
    const scope = uniqueName('scope');
    const row = { ...ROW, scope, reference: id };
    const write = (fails: boolean) =>
      inbox.run(event(), async ({ tx }) => {
        expect(await journal.insert(row, tx)).toMatchObject({ isInserted: true });
        expect(await journal.insert(row, tx)).toMatchObject({ isInserted: false });
        if (fails) throw new Error('shop');
      });
    await expect(write(true)).rejects.toThrow('shop');
    expect((await journal.read({ scope, reference: id })).row).toBeUndefined();
    await write(false);
    expect((await journal.read({ scope, reference: id })).row).toMatchObject({ reference: id, state: 'begun' });
  });

  it('has the same DDL as over a pool of pg, and migrates it once', async () => {
    expect(inbox.ddl()).toBe(postgresInbox(observer, { table: marks }).ddl());
    await inbox.migrate();
    const { rows } = await observer.query(`select obj_description('${marks}'::regclass, 'pg_class') as comment`);
    expect(rows).toEqual([{ comment: 'payment-gateway-sdk, version 1' }]);
  });

  proof('one transaction', 'commits the effect with its mark, which nobody sees before', async () => {
    const answer = await run(async tx => {
      await tx.credit(id);
      expect([await tx.times(id), await state()]).toEqual([1, NOTHING]);
    });
    expect([answer, await state(), await credit(other)]).toEqual(['ran', ONCE, 'already']);
  });

  proof('one transaction', 'keeps nothing of an effect that throws, and passes its error on', async () => {
    const error = new Error('shop');
    const failing = run(async tx => {
      await tx.credit(id);
      throw error;
    });
    await expect(failing).rejects.toBe(error);
    expect([await state(), await credit(), await state()]).toEqual([NOTHING, 'ran', ONCE]);
  });

  proof(
    'twenty at once',
    'credits each of ten payments once, from twenty callbacks of each in two replicas',
    async () => {
      const ids = Array.from({ length: 10 }, () => randomUUID());
      const deliverers = [opened, other].map(replica =>
        openCallbacks({
          inbox: inboxOf(replica),
          onPayment: (payment, { tx }) => replica.over(tx).credit(payment.id),
        }),
      );
      const answers = await Promise.all(
        ids.flatMap(paymentId => Array.from({ length: 20 }, (_, index) => deliverers[index % 2]?.deliver(paymentId))),
      );
      expect(answers.filter(answer => !/^(200|503 busy)/.test(String(answer)))).toEqual([]);
      for (const paymentId of ids) expect(await state(paymentId)).toEqual(ONCE);
    },
  );

  proof('twenty at once', 'leaves onPayment half of a pool, however many callbacks there are', async () => {
    const small = await open({ max: 2 });
    const ids = Array.from({ length: 6 }, () => randomUUID());
    const answers = await Promise.all(
      ids.map(paymentId =>
        inboxOf(small).run({ ...event(), paymentId }, async ({ tx }) => {
          await small.over().times(paymentId);
          await small.over(tx).credit(paymentId);
        }),
      ),
    );
    expect(answers).toEqual(ids.map(() => 'ran'));
  });

  describe('a create that is planned', () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const scope = uniqueName('scope');
    const planner = (of = opened) => postgresJournal(of.database, { table: journalTable, scope });
    const gatewayOf = (of = opened) => new GatewayClient({ ...sandbox.clientOptions, journal: planner(of) });
    const wanted = () => ({ ...PAYOUT, paymentType: 'WITHDRAWAL', reference: id }) as const;
    const madeOf = () => sandbox.payments.filter(({ reference }) => reference === id).length;
    const stateOf = async () => (await gatewayOf().find(id))?.state;

    proof('plans', 'is written with the order, or not at all, and sent once by whoever drains', async () => {
      const order = (fails: boolean) =>
        opened.begin(async tx => {
          await opened.over(tx).credit(id);
          expect((await planner().plan(tx, wanted())).state).toBe('planned');
          expect([await stateOf(), (await gatewayOf(other).drain()).created]).toEqual([undefined, 0]);
          if (fails) throw new Error('shop');
        });
      await expect(order(true)).rejects.toThrow('shop');
      expect([await state(), await stateOf()]).toEqual([NOTHING, undefined]);
      await order(false);
      expect([(await state()).credited, await stateOf(), madeOf()]).toEqual([1, 'planned', 0]);
      const drained = await Promise.all([gatewayOf().drain(), gatewayOf(other).drain(), gatewayOf().drain()]);
      expect(drained.reduce((sum, { created }) => sum + created, 0)).toBe(1);
      expect([await stateOf(), madeOf()]).toEqual(['created', 1]);
    });

    proof('plans', 'is planned again over what was refused, with the transaction or not at all', async () => {
      await opened.begin(tx => planner().plan(tx, wanted()));
      sandbox.faults.next('reject-422');
      expect((await gatewayOf().drain()).refused).toBe(1);
      const again = (fails: boolean) =>
        opened.begin(async tx => {
          expect((await planner().plan(tx, { ...wanted(), amount: '76.00' })).state).toBe('planned');
          if (fails) throw new Error('shop');
        });
      await expect(again(true)).rejects.toThrow('shop');
      expect(await stateOf()).toBe('freed');
      await again(false);
      expect([(await gatewayOf().drain()).created, madeOf()]).toEqual([1, 1]);
    });

    proof('plans', 'is not written where what was passed is no open transaction', async () => {
      await expect(planner().plan(opened.root, wanted())).rejects.toThrow();
      let ended: unknown;
      await opened.begin(async tx => {
        ended = tx;
      });
      await expect(planner().plan(ended, wanted())).rejects.toThrow();
      expect(await stateOf()).toBeUndefined();
    });
  });

  if (orm.nests === 'savepoint') {
    proof('nested', 'undoes a part of the effect by a transaction within it', async () => {
      const answer = await run(async tx => {
        await tx.credit(id);
        const part = tx.nested(async inner => {
          await inner.credit(id);
          throw new Error('part');
        });
        await expect(part).rejects.toThrow('part');
      });
      expect([answer, await state()]).toEqual(['ran', ONCE]);
    });

    proof(
      'nested',
      'keeps what a transaction within the effect has written, or nothing if the effect fails',
      async () => {
        const effect = (fails: boolean) => async (tx: Handle) => {
          await tx.nested(inner => inner.credit(id));
          if (fails) throw new Error('shop');
        };
        await expect(run(effect(true))).rejects.toThrow('shop');
        expect([await state(), await run(effect(false)), await state()]).toEqual([NOTHING, 'ran', ONCE]);
      },
    );
  } else {
    proof('refuses', 'refuses a transaction within the effect', async () => {
      await expect(run(tx => tx.nested(inner => inner.credit(id)))).rejects.toThrow(/transaction/);
      expect(await state()).toEqual(NOTHING);
    });
  }

  proof('swallowed SQL errors', 'marks nothing where an SQL error was ignored', async () => {
    const failing = run(async tx => {
      await tx.credit(id);
      await tx.sql('select 1/0').catch(() => {});
    });
    await expect(failing).rejects.toThrow(/onPayment ignored an SQL error|division by zero/);
    expect([await state(), await credit(), await state()]).toEqual([NOTHING, 'ran', ONCE]);
  });

  if (isCi)
    proof('deadlocks', 'runs both of two effects that met in a deadlock, the victim again', async () => {
      await observer.query(
        `insert into ${table} values ($1), ($2)`,
        [...Array(2)].map(() => id),
      );
      const rows = (await observer.query(`select ctid::text from ${table} where payment_id = $1`, [id])).rows;
      const lockOf = ({ ctid }: { ctid: string }) => `select from ${table} where ctid = '${ctid}' for update`;
      let tries = 0;
      const meet = async (paymentId: string, locks: string[]) =>
        inbox.run({ ...event(), paymentId }, async ({ tx }) => {
          tries += 1;
          const handle = opened.over(tx);
          for (const lock of locks) {
            await handle.sql(lock);
            await delay(100);
          }
          await handle.credit(paymentId);
        });
      const [first = '', second = ''] = rows.map(lockOf);
      const ids = [randomUUID(), randomUUID()] as const;
      const answers = await Promise.all([meet(ids[0], [first, second]), meet(ids[1], [second, first])]);
      expect([answers, tries]).toEqual([['ran', 'ran'], 3]);
      expect([await state(ids[0]), await state(ids[1])]).toEqual([ONCE, ONCE]);
    });

  /** Kills the connection of the effect that has written just now. */
  async function kill(): Promise<void> {
    const activity = `select pid from pg_stat_activity where pid <> pg_backend_pid() and state = 'idle in transaction'`;
    const { rows } = await observer.query(`${activity} and query ilike '%${table}%'`);
    expect(rows).toHaveLength(1);
    await observer.query('select pg_terminate_backend($1)', [rows[0].pid]);
    // The process hears of it meanwhile.
    await delay(100);
  }

  proof('kills', 'keeps nothing of an effect whose connection was killed, and goes on', async () => {
    const failing = run(async tx => {
      await tx.credit(id);
      await kill();
      await tx.credit(id);
    });
    await expect(failing).rejects.toThrow();
    expect([await state(), await credit(), await state()]).toEqual([NOTHING, 'ran', ONCE]);
  });

  proof('kills', 'tells that a COMMIT failed', async () => {
    const parent = uniqueName('parent');
    await observer.query(`create table ${parent} (payment_id uuid primary key)`);
    await observer.query(`alter table ${table} add constraint ${parent}_of foreign key (payment_id)
      references ${parent} deferrable initially deferred not valid`);
    try {
      await expect(credit()).rejects.toThrow(/foreign ?key|commit/i);
      expect(await state()).toEqual(NOTHING);
    } finally {
      await observer.query(`drop table ${parent} cascade`);
    }
    expect([await credit(), await state()]).toEqual(['ran', ONCE]);
  });

  proof(
    'own COMMIT',
    'credits nothing twice where somebody commits in the middle: the effect is uncertain',
    async () => {
      const failing = run(async tx => {
        await tx.credit(id);
        await tx.sql('commit');
      });
      // postgres.js and pg refuse it.
      await failing.then(
        () => {},
        () => {},
      );
      const { credited, marks: mark } = await state();
      expect([NOTHING, { credited: 1, marks: 'begun' }]).toContainEqual({ credited, marks: mark });
      expect(await credit()).toEqual(credited ? [{ status: 'COMPLETED', final: true, begun: true }] : 'ran');
      if (credited) await inbox.resolve(id, 'COMPLETED', 'done');
      expect([await credit(), await state()]).toEqual(['already', ONCE]);
    },
  );

  if (orm.name === 'Knex') {
    it.each(['commit', 'rollback'] as const)('says what to do where onPayment calls %s', async end => {
      let handle: Handle | undefined;
      const failing = inbox.run(event(), async ({ tx }) => {
        handle = opened.over(tx);
        await handle.credit(id);
        await (tx as Record<'commit' | 'rollback', () => Promise<void>>)[end]();
      });
      await expect(failing).rejects.toThrow('onPayment ended its transaction by itself: leave commit() and rollback()');
      expect(await state()).toEqual(end === 'commit' ? { credited: 1, marks: 'begun' } : NOTHING);
    });
  }

  if (orm.name === 'Kysely') {
    it('counts what is derived from it to the same pool', async () => {
      const small = await open({ max: 2 });
      const derived = (small.over as unknown as { derived(): PostgresDatabase }).derived();
      const ids = [randomUUID(), randomUUID()] as const;
      const runs = [small.database, derived].map((database, index) =>
        postgresInbox(database, { table: marks }).run({ ...event(), paymentId: ids[index] as string }, async () => {
          await small.over().times(id);
        }),
      );
      expect(await Promise.all(runs)).toEqual(['ran', 'ran']);
    });
  }

  proof('own COMMIT', 'credits nothing twice where somebody rolls back in the middle and writes on', async () => {
    const failing = run(async tx => {
      await tx.sql('rollback').then(() => tx.credit(id));
    });
    await expect(failing).rejects.toThrow();
    const { credited, marks: mark } = await state();
    expect([NOTHING, { credited: 1, marks: 'begun' }, { credited: 0, marks: 'begun' }]).toContainEqual({
      credited,
      marks: mark,
    });
  });

  proof('late queries', 'lets no query of tx write once onPayment has returned', async () => {
    let left: Handle | undefined;
    expect(
      await run(async tx => {
        left = tx;
        await tx.credit(id);
      }),
    ).toBe('ran');
    const next = completedPayment().id;
    await inbox.run({ ...event(), paymentId: next }, async ({ tx }) => {
      await expect((async () => left?.credit(next))()).rejects.toThrow();
      await expect((async () => left?.sql('select 1'))()).rejects.toThrow();
      await opened.over(tx).credit(next);
    });
    expect([await state(), await state(next)]).toEqual([ONCE, ONCE]);
  });

  proof('late queries', 'lets nothing write that goes on after onPayment has failed', async () => {
    // One of them sends its credit just behind the ROLLBACK.
    for (let selects = 0; selects < 7; selects++) {
      const paymentId = randomUUID();
      let goneOn: Promise<unknown> = Promise.resolve();
      const failing = inbox.run({ ...event(), paymentId }, async ({ tx }) => {
        const handle = opened.over(tx);
        const begin = async () => {
          for (let times = 0; times < selects; times++) await handle.times(paymentId);
          await handle.credit(paymentId);
        };
        goneOn = begin().catch(() => {});
        await handle.times(paymentId);
        throw new Error('mailer is down');
      });
      await expect(failing).rejects.toThrow('mailer is down');
      await goneOn;
      expect(await state(paymentId)).toEqual(NOTHING);
    }
  });

  proof('late queries', 'does not answer that it ran where a query that nobody waited for has undone it', async () => {
    const running = run(async tx => {
      await tx.credit(id);
      void (async () => {
        await tx.sql('select 1');
        await tx.sql('select 1/0');
      })().catch(() => {});
    });
    const answer = await running.catch(() => 'failed');
    // Or it was over before that query.
    expect([
      ['failed', NOTHING],
      ['ran', ONCE],
    ]).toContainEqual([answer, await state()]);
    if (answer === 'failed') expect([await credit(), await state()]).toEqual(['ran', ONCE]);
  });

  if (orm.nests === 'savepoint') {
    proof('late queries', 'lets no query of a transaction within write once onPayment has returned', async () => {
      let left: Handle | undefined;
      const answer = await run(tx =>
        tx.nested(async inner => {
          left = inner;
          await inner.credit(id);
        }),
      );
      expect(answer).toBe('ran');
      const next = completedPayment().id;
      await inbox.run({ ...event(), paymentId: next }, async ({ tx }) => {
        await expect((async () => left?.credit(next))()).rejects.toThrow();
        await opened.over(tx).credit(next);
      });
      expect([await state(), await state(next)]).toEqual([ONCE, ONCE]);
    });

    proof('kills', 'survives a connection that is killed in a transaction within', async () => {
      const failing = run(tx =>
        tx.nested(async inner => {
          await inner.credit(id);
          await kill();
          throw new Error('after that');
        }),
      );
      await expect(failing).rejects.toThrow();
      await delay(50);
      expect([await state(), await credit(), await state()]).toEqual([NOTHING, 'ran', ONCE]);
    });
  }

  proof('session settings', 'sees the marks that are committed by then, whatever the session defaults to', async () => {
    const strict = await open({ options: '-c default_transaction_isolation=serializable' });
    await strict.over().sql(`do $$ begin assert current_setting('transaction_isolation') = 'serializable'; end $$`);
    expect(await credit(strict)).toBe('ran');
    expect([await credit(), await credit(strict), await state()]).toEqual(['already', 'already', ONCE]);
  });

  proof('session settings', 'commits durably, whatever the session defaults to', async () => {
    const lax = await open({ options: '-c synchronous_commit=off' });
    await lax.over().sql(`do $$ begin assert current_setting('synchronous_commit') = 'off'; end $$`);
    const seen = run(tx => tx.sql(`do $$ begin assert current_setting('synchronous_commit') = 'on'; end $$`), lax);
    expect(await seen).toBe('ran');
  });
});

it.skipIf(missing || !isCi)('docs/orms.md says which combinations are proven', () => {
  const names = [...new Set([...proven.values()].flat())].filter(name => name !== 'refuses');
  const rows = orms.map(orm => [
    orm.name,
    versionsOf(orm),
    ...names.map(name =>
      proven.get(orm)?.includes(name) ? 'yes' : name === 'nested' && orm.nests === 'refuses' ? 'refused' : 'NOT PROVEN',
    ),
  ]);
  expectDocumented('orms.md', 'proven', tableOf(['library', 'version', ...names], rows));
});
