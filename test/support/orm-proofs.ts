// The proofs that mean the same over every library and every server.
import { randomUUID } from 'node:crypto';
import type { SqlDatabase } from 'payment-gateway-sdk/postgres';
import { sqlDatabaseSuite, storeSuite } from 'payment-gateway-sdk/testing';
import { expect } from 'vitest';
import type { Any, Handle } from './orm.ts';
import { proveEnds } from './orm-ends.ts';
import { proveLeftOpen } from './orm-left-open.ts';
import { provePlans } from './orm-plans.ts';
import { NOTHING, ONCE, type Scene } from './orm-scene.ts';
import { isFull } from './skips.ts';
import { uniqueName } from './stores.ts';
import { suiteTest } from './suite-test.ts';

export function proveLibrary<Database>(scene: Scene<Database>): void {
  // Its statements are the same over every library, whose own part sqlDatabaseSuite proves.
  if (isFull || scene.orm.isPool) {
    storeSuite<Any>({
      test: suiteTest,
      open: scope => [scene.storeOf(scene.opened, scope), scene.storeOf(scene.other, scope)],
      transaction: work => scene.opened.begin(work).then(() => {}),
    });
  }
  // A pool is made one by the stores themselves.
  if (!scene.orm.isPool) {
    sqlDatabaseSuite<Any>({
      test: suiteTest,
      make: () => scene.opened.database as SqlDatabase<Any>,
      execute: (tx, sql) => scene.opened.over(tx).sql(sql),
    });
  }
  proveTransactions(scene);
  provePlans(scene);
  if (scene.orm.nests === 'savepoint') proveNested(scene);
  if (scene.server.findsDeadlocksAtOnce || isFull) proveDeadlocks(scene);
  proveEnds(scene);
  proveLeftOpen(scene);
}

function proveTransactions<Database>(scene: Scene<Database>): void {
  scene.proof('one transaction', 'commits the effect with its mark, which nobody sees before', async () => {
    const { id } = scene;
    const answer = await scene.run(async tx => {
      await tx.credit(id);
      expect([await tx.times(id), await scene.state()]).toEqual([1, NOTHING]);
    });
    expect([answer, await scene.state(), await scene.credit(scene.other)]).toEqual(['done', ONCE, 'skipped']);
  });

  scene.proof('one transaction', 'keeps nothing of an effect that throws, and passes its error on', async () => {
    const error = new Error('shop');
    const failing = scene.run(async tx => {
      await tx.credit(scene.id);
      throw error;
    });
    await expect(failing).rejects.toBe(error);
    expect([await scene.state(), await scene.credit(), await scene.state()]).toEqual([NOTHING, 'done', ONCE]);
  });

  scene.proof(
    'twenty at once',
    'credits each of ten payments once, from twenty callbacks of each in two replicas',
    async () => {
      const ids = Array.from({ length: 10 }, () => randomUUID());
      const results = await Promise.all(
        ids.flatMap(id =>
          Array.from({ length: 20 }, (_, index) =>
            scene.run(tx => tx.credit(id), index % 2 ? scene.opened : scene.other, id),
          ),
        ),
      );
      expect(results.filter(result => result === 'done')).toHaveLength(ids.length);
      expect(results).not.toContain('uncertain');
      for (const paymentId of ids) expect(await scene.state(paymentId)).toEqual(ONCE);
    },
  );

  scene.proof('twenty at once', 'leaves an effect half of a pool, however many effects run', async () => {
    const small = await scene.open({ max: 2 });
    const ids = Array.from({ length: 6 }, () => randomUUID());
    const answers = await Promise.all(
      ids.map(paymentId =>
        scene.run(
          async tx => {
            await small.over().times(paymentId);
            await tx.credit(paymentId);
          },
          small,
          paymentId,
        ),
      ),
    );
    expect(answers).toEqual(ids.map(() => 'done'));
  });

  scene.proof('twenty at once', 'lets no payment wait for another one, also in a new table', async () => {
    const tablePrefix = uniqueName('new');
    const store = scene.server.store(scene.opened.database, { tablePrefix, scope: 'shop' });
    await store.migrate();
    const ids = Array.from({ length: 5 }, () => randomUUID());
    const { promise: allRun, resolve } = Promise.withResolvers<void>();
    let running = 0;
    const answers = await Promise.all(
      ids.map(id => {
        const work = async () => {
          running += 1;
          if (running === ids.length) resolve();
          await allRun;
        };
        return scene.run(work, scene.opened, id, store);
      }),
    );
    expect(answers).toEqual(ids.map(() => 'done'));
    await scene.observer.query(`drop table ${tablePrefix}_rows`);
  });

  scene.proof('twenty at once', 'runs effects over a pool of one connection, one after the other', async () => {
    const one = await scene.open({ max: 1 });
    const ids = Array.from({ length: 3 }, () => randomUUID());
    const answers = await Promise.all(ids.map(paymentId => scene.run(tx => tx.credit(paymentId), one, paymentId)));
    expect(answers).toEqual(['done', 'done', 'done']);
    for (const paymentId of ids) expect(await scene.state(paymentId)).toEqual(ONCE);
  });
}

function proveNested<Database>(scene: Scene<Database>): void {
  scene.proof('nested', 'undoes a part of the effect by a transaction within it', async () => {
    const answer = await scene.run(async tx => {
      await tx.credit(scene.id);
      const part = tx.nested(async inner => {
        await inner.credit(scene.id);
        throw new Error('part');
      });
      await expect(part).rejects.toThrow('part');
    });
    expect([answer, await scene.state()]).toEqual(['done', ONCE]);
  });

  scene.proof(
    'nested',
    'keeps what a transaction within the effect has written, or nothing if the effect fails',
    async () => {
      const effect = (fails: boolean) => async (tx: Handle) => {
        await tx.nested(inner => inner.credit(scene.id));
        if (fails) throw new Error('shop');
      };
      await expect(scene.run(effect(true))).rejects.toThrow('shop');
      const undone = await scene.state();
      expect([undone, await scene.run(effect(false)), await scene.state()]).toEqual([NOTHING, 'done', ONCE]);
    },
  );
}

/** What an effect does once another one has the row that it asks for. */
type Meeting = (tx: Handle, id: string, lockTheirs: string) => Promise<unknown>;

/** Two effects, each of which has locked a row and asks for that of the other. */
export async function meet<Database>(scene: Scene<Database>, effect: Meeting) {
  const ids = [randomUUID(), randomUUID()];
  const held = ids.map(() => Promise.withResolvers<void>());
  const lockOf = (row: number) => `select id from ${scene.locks} where id = ${row} for update`;
  let tries = 0;
  const answers = await Promise.all(
    ids.map((id, own) =>
      scene
        .run(
          async tx => {
            tries += 1;
            await tx.sql(lockOf(own));
            held[own]?.resolve();
            await held[1 - own]?.promise;
            await effect(tx, id, lockOf(1 - own));
          },
          scene.opened,
          id,
        )
        .catch(() => 'failed'),
    ),
  );
  return { ids, answers, tries, states: await Promise.all(ids.map(id => scene.state(id))) };
}

/** Both ran in the end, the victim at its second try. */
const BOTH = { answers: ['done', 'done'], tries: 3, states: [ONCE, ONCE] };

function proveDeadlocks<Database>(scene: Scene<Database>): void {
  scene.proof('deadlocks', 'runs both of two effects that met in a deadlock, the victim again', async () => {
    const met = await meet(scene, async (tx, id, lockTheirs) => {
      await tx.credit(id);
      await tx.sql(lockTheirs);
    });
    expect(met).toMatchObject(BOTH);
  });
}
