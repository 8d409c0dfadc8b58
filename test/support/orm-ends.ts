// The proofs about how transactions end: connections that are killed, a COMMIT of somebody else's, queries that come too late.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Handle } from './orm.ts';
import { NOTHING, ONCE, type Scene, UNCERTAIN } from './orm-scene.ts';

async function kill<Database>({ observer, tables }: Scene<Database>, tx: Handle): Promise<void> {
  await observer.kill(tx, tables.credits);
  // The process hears of it meanwhile.
  await delay(100);
}

/** Proofs about the end of a transaction, and what comes after it. */
export function proveEnds<Database>(scene: Scene<Database>): void {
  proveKills(scene);
  proveOwnCommits(scene);
  proveLateQueries(scene);
  if (scene.orm.nests === 'savepoint') proveNestedEnds(scene);
}

function proveKills<Database>(scene: Scene<Database>): void {
  scene.proof('kills', 'keeps nothing of an effect whose connection was killed, and goes on', async () => {
    const failing = scene.run(async tx => {
      await tx.credit(scene.id);
      await kill(scene, tx);
      await tx.credit(scene.id);
    });
    await expect(failing).rejects.toThrow();
    expect([await scene.state(), await scene.credit(), await scene.state()]).toEqual([NOTHING, 'ran', ONCE]);
  });

  scene.proof('kills', 'does not answer that it ran where the connection was killed behind the effect', async () => {
    const failing = scene.run(async tx => {
      await tx.credit(scene.id);
      await kill(scene, tx);
    });
    await expect(failing).rejects.toThrow();
    expect([await scene.state(), await scene.credit(), await scene.state()]).toEqual([NOTHING, 'ran', ONCE]);
  });
}

function proveOwnCommits<Database>(scene: Scene<Database>): void {
  scene.proof('own COMMIT', 'credits nothing twice where somebody commits in the middle', async () => {
    const failing = scene.run(async tx => {
      await tx.credit(scene.id);
      await tx.sql('commit');
    });
    // Most refuse it.
    await failing.catch(() => {});
    const { id, opened } = scene;
    const state = await scene.state();
    expect([NOTHING, UNCERTAIN]).toContainEqual(state);
    const isCredited = state.credited === 1;
    expect(await scene.credit()).toEqual(isCredited ? [{ status: 'COMPLETED', final: true, begun: true }] : 'ran');
    if (isCredited) await scene.inboxOf(opened).resolve(id, 'COMPLETED', 'done');
    expect([await scene.credit(), await scene.state()]).toEqual(['already', ONCE]);
  });

  scene.proof('own COMMIT', 'credits nothing twice where somebody rolls back in the middle and writes on', async () => {
    const failing = scene.run(async tx => {
      await tx.sql('rollback').then(() => tx.credit(scene.id));
    });
    await expect(failing).rejects.toThrow();
    expect([NOTHING, UNCERTAIN, { ...UNCERTAIN, credited: 0 }]).toContainEqual(await scene.state());
  });
}

function proveLateQueries<Database>(scene: Scene<Database>): void {
  scene.proof('late queries', 'lets no query of tx write once onPayment has returned', async () => {
    let left: Handle | undefined;
    const answer = await scene.run(async tx => {
      left = tx;
      await tx.credit(scene.id);
    });
    expect(answer).toBe('ran');
    await expectRefusedLater(scene, async next => {
      await expect((async () => left?.sql('select 1'))()).rejects.toThrow();
      await left?.credit(next);
    });
  });

  scene.proof('late queries', 'lets nothing write that goes on after onPayment has failed', async () => {
    // One of them sends its credit just behind the ROLLBACK.
    for (let selects = 0; selects < 7; selects++) {
      const paymentId = randomUUID();
      let goneOn: Promise<unknown> = Promise.resolve();
      const failing = scene.run(
        async tx => {
          const begin = async () => {
            for (let times = 0; times < selects; times++) await tx.times(paymentId);
            await tx.credit(paymentId);
          };
          goneOn = begin().catch(() => {});
          await tx.times(paymentId);
          throw new Error('mailer is down');
        },
        scene.opened,
        paymentId,
      );
      await expect(failing).rejects.toThrow('mailer is down');
      await goneOn;
      expect(await scene.state(paymentId)).toEqual(NOTHING);
    }
  });

  scene.proof(
    'late queries',
    'lets nothing write that was written down before the end, and is awaited after it',
    async () => {
      for (const fails of [false, true]) {
        const left: PromiseLike<unknown>[] = [];
        const paymentId = randomUUID();
        const running = scene.run(
          async tx => {
            await tx.times(paymentId);
            const query = tx.lazily?.(paymentId);
            if (query) left.push(query);
            if (fails) throw new Error('mailer is down');
          },
          scene.opened,
          paymentId,
        );
        await running.catch(() => {});
        for (const query of left) await expect((async () => query)()).rejects.toThrow();
        expect((await scene.state(paymentId)).credited).toBe(0);
      }
    },
  );

  scene.proof('late queries', 'does not answer that it ran where a query that nobody waited for failed', async () => {
    const running = scene.run(async tx => {
      await tx.credit(scene.id);
      void (async () => {
        await tx.sql('select 1');
        await tx.sql(scene.server.failing);
      })().catch(() => {});
    });
    const answer = await running.catch(() => 'failed');
    // Or it was over before that query.
    expect([
      ['failed', NOTHING],
      ['ran', ONCE],
    ]).toContainEqual([answer, await scene.state()]);
    if (answer === 'failed') expect([await scene.credit(), await scene.state()]).toEqual(['ran', ONCE]);
  });
}

function proveNestedEnds<Database>(scene: Scene<Database>): void {
  scene.proof('late queries', 'lets no query of a transaction within write once onPayment has returned', async () => {
    let left: Handle | undefined;
    const answer = await scene.run(tx =>
      tx.nested(async inner => {
        left = inner;
        await inner.credit(scene.id);
      }),
    );
    expect(answer).toBe('ran');
    await expectRefusedLater(scene, async next => left?.credit(next));
  });

  scene.proof('kills', 'survives a connection that is killed in a transaction within', async () => {
    const failing = scene.run(tx =>
      tx.nested(async inner => {
        await inner.credit(scene.id);
        await kill(scene, inner);
        throw new Error('after that');
      }),
    );
    await expect(failing).rejects.toThrow();
    await delay(50);
    expect([await scene.state(), await scene.credit(), await scene.state()]).toEqual([NOTHING, 'ran', ONCE]);
  });
}

/** While the effect of another payment runs, the query must be refused; it must write nothing. */
async function expectRefusedLater<Database>(scene: Scene<Database>, query: (id: string) => Promise<unknown>) {
  const next = randomUUID();
  const answer = await scene.run(
    async tx => {
      await expect(query(next)).rejects.toThrow();
      await tx.credit(next);
    },
    scene.opened,
    next,
  );
  expect([answer, await scene.state(), await scene.state(next)]).toEqual(['ran', ONCE, ONCE]);
}
