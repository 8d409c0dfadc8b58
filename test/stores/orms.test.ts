// The stores over every library that merchants have, each with the real library and the real server.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { mysqlStore } from 'payment-gateway-sdk/mysql';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import { sqlDatabaseSuite, storeSuite } from 'payment-gateway-sdk/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { expectDocumented } from '../support/documents.ts';
import { isInstalled } from '../support/install.ts';
import { tableOf } from '../support/markdown.ts';
import { hasMariadb } from '../support/mysql-stores.ts';
import { isFull, lacks } from '../support/skips.ts';
import { hasPostgres, uniqueName } from '../support/stores.ts';
import { suiteTest } from '../support/suite-test.ts';
import { type Credits, NOTHING, ONCE, openCredits } from './credits.ts';
import { type Database, openDatabase } from './database.ts';
import { type Any, type OpenOrm, type Orm, type OrmOptions, orms, versionsOf } from './orms.ts';

/** A pool, a library over it, and a driver of its own. Each adapter has its tests without a database. */
const SOME = ['`pg`', 'TypeORM', 'postgres.js', '`mysql2`'];
const isPlayed = ({ name, dialect }: Orm) =>
  isFull || (SOME.includes(name) && (dialect === 'postgres' || name !== 'TypeORM'));

const PROOFS = [
  'one transaction',
  'many at once',
  'plans',
  'nested',
  'swallowed SQL errors',
  'deadlocks',
  'kills',
  'own COMMIT',
  'late queries',
  'left open',
] as const;
type Proof = (typeof PROOFS)[number];
/** For each library, the proofs that passed. */
const proven = new Map<unknown, Set<Proof>>();

const SERVERS = {
  postgres: { name: 'Postgres', table: 'proven', store: postgresStore as Any, failing: 'select 1/0' },
  mysql: { name: 'MariaDB', table: 'proven over MySQL', store: mysqlStore as Any, failing: 'select * from nowhere' },
};
const missing = {
  postgres: lacks(hasPostgres, 'ORMs: no PostgreSQL at 127.0.0.1:5432'),
  mysql: lacks(hasMariadb, 'ORMs over MySQL: install mariadb-server'),
};
const isMissing = lacks(isInstalled('kysely'), 'ORMs: npm install in test/tools failed');

const fail = async () => {
  throw new Error('shop');
};

const played = orms.filter(orm => isPlayed(orm) && !isMissing && !missing[orm.dialect]);
describe.each(played.map(orm => ({ orm, ...orm })))('$name over $dialect', ({ orm }) => {
  const server = SERVERS[orm.dialect];
  const isMysql = orm.dialect === 'mysql';
  const proof = (name: Proof, promise: string, test: () => Promise<void>) =>
    it(promise, async () => {
      await test();
      proven.set(orm, (proven.get(orm) ?? new Set()).add(name));
    });
  /** Rows 0 and 1, which effects lock. */
  const locks = uniqueName('locks');
  let observer: Database;
  let credits: Credits;
  let opened: OpenOrm;
  /** Another replica, whose sessions begin at SERIALIZABLE in Postgres. */
  let other: OpenOrm;
  let id: string;

  beforeAll(async () => {
    observer = await openDatabase(server.name, { max: 3 });
    credits = await openCredits(observer);
    [opened, other] = [await orm.open(), await orm.open({ isStrict: true })];
    await observer.query(`create table ${locks} (id int primary key)`);
    await observer.query(`insert into ${locks} values (0), (1)`);
  });
  beforeEach(() => {
    id = randomUUID();
  });
  afterAll(async () => {
    await Promise.all([opened.close(), other.close()]);
    await observer.query(`drop table ${locks}`);
    await credits.close();
    await observer.end();
  });

  const storeOf = ({ database }: OpenOrm, scope = 'shop', tablePrefix = credits.tablePrefix): Store<Any> =>
    server.store(database, { tablePrefix, scope });
  const open = async (options: OrmOptions) => {
    const own = await orm.open(options);
    onTestFinished(async () => void (await own.close()));
    return own;
  };
  const credit = (tx: Any, of = id) => orm.sql(tx, `insert into ${credits.table} values ('${of}')`);
  /** Runs an effect of a payment, unless it had one. */
  const run = (effect: (tx: Any) => Promise<unknown> = credit, of = opened, payment = id) =>
    credits.pay(storeOf(of) as Store, payment, effect as never);
  const state = (of = id) => credits.stateOf(of);
  /** Counted once, or not at all and free to run again, or reported as uncertain and never run again. */
  const expectOnceOrReported = async (answer: unknown, of = id) => {
    const stands = await state(of);
    if (answer === 'done') return expect(stands).toEqual(ONCE);
    const again = await run(tx => credit(tx, of), other, of);
    if (stands.mark !== 'begun') return expect([stands, again, await state(of)]).toEqual([NOTHING, 'done', ONCE]);
    expect([again, await state(of)]).toEqual(['uncertain', stands]);
    expect(stands.credited).toBeLessThan(2);
  };

  // A pool is made a database by the stores themselves.
  if (!orm.isPool) {
    sqlDatabaseSuite<Any>({ test: suiteTest, make: () => opened.database, execute: (tx, sql) => orm.sql(tx, sql) });
  }
  if (orm.hasOwnValues) {
    storeSuite<Any>({
      test: suiteTest,
      open: scope => [storeOf(opened, scope), storeOf(other, scope)],
      transaction: work => opened.begin(work).then(() => {}),
    });
  }

  proof('one transaction', 'commits the effect with its mark, or nothing of it', async () => {
    const error = new Error('shop');
    const failing = run(async tx => {
      await credit(tx);
      expect(await state()).toEqual(NOTHING);
      throw error;
    });
    await expect(failing).rejects.toBe(error);
    expect([await state(), await run(), await state(), await run(credit, other)]).toEqual([
      NOTHING,
      'done',
      ONCE,
      'skipped',
    ]);
  });

  proof('many at once', 'credits each of five payments once, from ten callbacks of each in two replicas', async () => {
    const ids = Array.from({ length: 5 }, () => randomUUID());
    const results = ids.flatMap(of =>
      Array.from({ length: 10 }, (_, index) => run(tx => credit(tx, of), index % 2 ? opened : other, of)),
    );
    const ended = await Promise.all(results);
    expect([ended.filter(result => result === 'done').length, ended.includes('uncertain')]).toEqual([5, false]);
    for (const of of ids) expect(await state(of)).toEqual(ONCE);
  });

  proof('many at once', 'runs effects over a pool of one connection, one after the other', async () => {
    const one = await open({ max: 1 });
    const ids = [1, 2, 3].map(() => randomUUID());
    expect(await Promise.all(ids.map(of => run(tx => credit(tx, of), one, of)))).toEqual(['done', 'done', 'done']);
    for (const of of ids) expect(await state(of)).toEqual(ONCE);
  });

  const send = async (tx: Any, ...statements: string[]) => {
    for (const sql of statements) await orm.sql(tx, sql);
  };
  it.each<[Proof, name: string, mistake: (tx: Any) => Promise<unknown>]>([
    ['swallowed SQL errors', 'ignores an SQL error', tx => send(tx, server.failing).catch(() => {})],
    ['own COMMIT', 'commits', tx => send(tx, 'commit')],
    ['own COMMIT', 'commits, begins and fails', tx => send(tx, 'commit', 'start transaction').then(fail)],
    ['own COMMIT', 'begins and commits within', tx => send(tx, 'start transaction', 'commit')],
    ['own COMMIT', 'rolls back', tx => send(tx, 'rollback')],
    ['own COMMIT', 'rolls back and writes on', tx => send(tx, 'rollback').then(() => credit(tx))],
    [
      'late queries',
      'sends a failing query without await',
      async tx => void send(tx, 'select 1', server.failing).catch(() => {}),
    ],
  ])('%s: credits once or reports it, where an effect %s', async (name, _, mistake) => {
    const answer = await run(tx => credit(tx).then(() => mistake(tx))).catch(() => 'failed');
    await expectOnceOrReported(answer);
    proven.set(orm, (proven.get(orm) ?? new Set()).add(name));
  });

  if (orm.isPool) {
    proof('late queries', 'lets no query of tx write once the effect has returned', async () => {
      let left: Any;
      const answer = await run(tx => {
        left = tx;
        return credit(tx);
      });
      await expect(credit(left)).rejects.toThrow('has ended');
      expect([answer, await state()]).toEqual(['done', ONCE]);
    });
  }

  /** Kills the connection of an effect that has written its credit just now. */
  const kill = async (tx: Any) => {
    if (isMysql) {
      const lock = uniqueName('killed');
      await orm.sql(tx, `do get_lock('${lock}', 0)`);
      const [held] = await observer.query(`select is_used_lock('${lock}') as id`);
      await observer.query(`kill ${held?.id}`);
    } else {
      const killed = await observer.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where state = 'idle in transaction' and query ilike '%${credits.table}%' and pid <> pg_backend_pid()`);
      expect(killed).toHaveLength(1);
    }
    // The process hears of it meanwhile.
    await delay(50);
  };
  // Over some libraries, a query on the broken connection would end this process.
  for (const writesOn of orm.endsProcess ? [false] : [false, true]) {
    proof(
      'kills',
      `keeps nothing of an effect whose connection was killed${writesOn ? ', and writes on' : ''}`,
      async () => {
        const killed = run(async tx => {
          await credit(tx);
          await kill(tx);
          if (writesOn) await credit(tx);
        });
        await expect(killed).rejects.toThrow();
        expect([await state(), await run(), await state()]).toEqual([NOTHING, 'done', ONCE]);
      },
    );
  }

  /** Two effects, each of which has locked a row and asks for that of the other. */
  const meet = async (effect: (tx: Any, of: string, lockTheirs: string) => Promise<unknown>) => {
    const ids = [randomUUID(), randomUUID()];
    const held = ids.map(() => Promise.withResolvers<void>());
    const lockOf = (row: number) => `select id from ${locks} where id = ${row} for update`;
    let tries = 0;
    const meeting = ids.map((of, own) => {
      const work = async (tx: Any) => {
        tries += 1;
        await orm.sql(tx, lockOf(own));
        held[own]?.resolve();
        await held[1 - own]?.promise;
        await effect(tx, of, lockOf(1 - own));
      };
      return run(work, opened, of).catch(() => 'failed');
    });
    return { ids, answers: await Promise.all(meeting), tries };
  };
  proof('deadlocks', 'runs both of two effects that met in a deadlock, the victim again', async () => {
    const met = await meet(async (tx, of, theirs) => {
      await credit(tx, of);
      await orm.sql(tx, theirs);
    });
    expect(met.answers).toEqual(['done', 'done']);
    // On a busy machine they may meet again.
    expect(met.tries).toBeGreaterThan(2);
    for (const of of met.ids) expect(await state(of)).toEqual(ONCE);
  });
  if (isMysql) {
    // It has undone the transaction, so the statements after it are committed one by one.
    it.each<[string, Parameters<typeof meet>[0]]>([
      ['is ignored', (tx, of, theirs) => orm.sql(tx, theirs).catch(() => credit(tx, of).catch(() => {}))],
      [
        'is thrown after another write',
        (tx, of, theirs) => orm.sql(tx, theirs).catch(error => credit(tx, of).then(() => Promise.reject(error))),
      ],
      ['meets a concurrent statement', (tx, of, theirs) => Promise.all([orm.sql(tx, theirs), credit(tx, of)])],
    ])('credits at most once or reports it, where a deadlock %s', async (_, effect) => {
      const { ids, answers } = await meet(effect);
      for (const [index, of] of ids.entries()) {
        const { credited } = await state(of);
        expect(credited).toBeLessThan(2);
        if (answers[index] !== 'done') await expectOnceOrReported(answers[index], of);
      }
    });
  }

  describe('a planned row', () => {
    const scope = uniqueName('scope');
    const planned = (data: object = {}) => newRow({ id, state: 'planned', dueAt: 0, data });
    const stored = async (of = id) => (await storeOf(opened, scope).read({ kind: 'create', id: of })).row?.state;

    proof('plans', 'is written with the order, or not at all', async () => {
      const order = (end: () => Promise<void>) =>
        opened.begin(async tx => {
          await credit(tx);
          expect((await storeOf(opened, scope).write(planned(), tx)).isWritten).toBe(true);
          expect(await stored()).toBeUndefined();
          await end();
        });
      await expect(order(fail)).rejects.toThrow('shop');
      expect([await state(), await stored()]).toEqual([NOTHING, undefined]);
      await order(async () => {});
      expect([(await state()).credited, await stored()]).toEqual([1, 'planned']);
    });

    proof('plans', 'is refused outside an open transaction', async () => {
      let ended: Any;
      await opened.begin(async tx => {
        ended = tx;
      });
      for (const tx of [opened.root, ended])
        await expect((async () => storeOf(opened, scope).write(planned(), tx))()).rejects.toThrow();
      expect(await stored()).toBeUndefined();
    });

    proof('plans', 'shows no customer data if the database refuses it', async () => {
      const constraint = uniqueName('no_plans');
      const table = `${credits.tablePrefix}_rows`;
      const refused = isMysql ? `id <> unhex('${Buffer.from(id).toString('hex')}')` : `id <> '${id}'`;
      await observer.query(`alter table ${table} add constraint ${constraint} check (${refused})`);
      const memo = 'for Zoe, Ulica 1/2';
      const error = await opened.begin(tx => storeOf(opened, scope).write(planned({ memo }), tx)).catch(error => error);
      await observer.query(`alter table ${table} drop constraint ${constraint}`);
      expect((error as Error).message).toContain(constraint);
      const printed = inspect(error, { depth: 10, showHidden: true });
      for (const text of [memo, Buffer.from(memo).toString('hex')]) expect(printed).not.toContain(text);
    });
  });

  if (orm.nests === 'savepoint') {
    proof('nested', 'undoes a part of the effect by a transaction within it, with its plan', async () => {
      const scope = uniqueName('scope');
      const store = storeOf(opened, scope);
      const part = newRow({ state: 'planned' });
      const answer = await run(async tx => {
        await credit(tx);
        const undone = orm.nest(tx, async inner => {
          await credit(inner);
          await store.write(part, inner);
          throw new Error('part');
        });
        await expect(undone).rejects.toThrow('part');
      });
      expect([answer, await state(), (await store.read(part)).row]).toEqual(['done', ONCE, undefined]);
    });
  }

  /** A pool whose free connection was given back within a transaction. The other one is in use. */
  const leaveOpen = async () => {
    const own = await open({ max: 2 });
    const [taken, kept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const using = own.begin(async tx => {
      await orm.sql(tx, 'select 1');
      taken.resolve();
      await kept.promise;
    });
    onTestFinished(async () => {
      kept.resolve();
      await using;
    });
    await taken.promise;
    await orm.sql(own.root, 'start transaction');
    return own;
  };
  const LEFT_OPEN = 'released to the pool inside an open transaction';

  proof('left open', 'reports a create as written only if it was committed', async () => {
    const own = await leaveOpen();
    const row = newRow({ id });
    const first = await storeOf(own)
      .write(row)
      .catch((error: unknown) => error);
    if (first instanceof Error) expect(first.message).toContain(LEFT_OPEN);
    await orm.sql(own.root, 'rollback');
    expect((await storeOf(own).read(row)).row === undefined).toBe(first instanceof Error);
  });

  if (!isMysql) {
    proof('left open', 'commits with an effect nothing that other code had begun and not ended', async () => {
      const own = await leaveOpen();
      const foreign = randomUUID();
      await credit(own.root, foreign);
      const answers: unknown[] = [];
      // The first one ends it.
      for (let tries = 0; tries < 2; tries++) answers.push(await run(credit, own).catch(error => error.message));
      expect(answers.filter(answer => answer === 'done')).toHaveLength(1);
      for (const answer of answers)
        expect(answer).toMatch(/^(?:done|skipped)$|released to the pool inside an open transaction/);
      expect([await state(), await state(foreign)]).toEqual([ONCE, NOTHING]);
    });
  }

  it('has the same DDL as over a pool, and migrates it once', async () => {
    const pool = orms.find(({ dialect, isPool }) => dialect === orm.dialect && isPool) as Orm;
    const bare = await pool.open();
    const store = storeOf(opened);
    expect(store.ddl()).toBe(storeOf(bare).ddl());
    await bare.close();
    await Promise.all([store.migrate(), storeOf(other).migrate()]);
    expect((await store.write(newRow())).isWritten).toBe(true);
  });
});

// docs/contributing/proven-libraries.md lists the proven combinations. By then all have been played, in any order.
afterAll(() => {
  for (const [dialect, { table }] of Object.entries(SERVERS)) {
    if (isMissing || missing[dialect as keyof typeof missing] || !isFull) continue;
    const rows = orms
      .filter(orm => orm.dialect === dialect)
      .map(orm => [
        orm.name,
        versionsOf(orm),
        ...PROOFS.map(name => {
          if (proven.get(orm)?.has(name)) return 'yes';
          return name === 'nested' && orm.nests === 'refuses' ? 'refused' : 'NOT PROVEN';
        }),
      ]);
    expectDocumented('contributing/proven-libraries.md', table, tableOf(['library', 'version', ...PROOFS], rows));
  }
});
