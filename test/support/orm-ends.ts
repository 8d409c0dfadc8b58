// The proofs about how transactions end: killed connections, a COMMIT or ROLLBACK of the effect's own, ignored errors.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Handle } from './orm.ts';
import { NOTHING, ONCE, type Proof, type Scene } from './orm-scene.ts';

async function kill<Database>({ observer, tables }: Scene<Database>, tx: Handle): Promise<void> {
  await observer.kill(tx, tables.credits);
  // The process hears of it meanwhile.
  await delay(100);
}

const fail = async () => {
  throw new Error('shop');
};

/** What an effect does after its credit. */
type Mistake = (tx: Handle, id: string, failing: string) => Promise<unknown>;

/** An `undefined` as the error of a raw statement: some libraries refuse it. */
const send = (tx: Handle, ...statements: string[]) =>
  statements.reduce<Promise<unknown>>((before, sql) => before.then(() => tx.sql(sql)), Promise.resolve());

const MISTAKES: [Proof, name: string, Mistake][] = [
  ['swallowed SQL errors', 'ignores an SQL error', (tx, _, failing) => send(tx, failing).catch(() => {})],
  [
    'swallowed SQL errors',
    'ignores an SQL error and writes on',
    async (tx, id, failing) => {
      await send(tx, failing).catch(() => {});
      await tx.times(id).catch(() => {});
    },
  ],
  ['own COMMIT', 'commits', tx => send(tx, 'commit')],
  ['own COMMIT', 'commits and fails', tx => send(tx, 'commit').then(fail)],
  ['own COMMIT', 'commits and begins', tx => send(tx, 'commit', 'start transaction')],
  ['own COMMIT', 'commits, begins and fails', tx => send(tx, 'commit', 'start transaction').then(fail)],
  ['own COMMIT', 'begins and commits within', tx => send(tx, 'start transaction', 'commit')],
  ['own COMMIT', 'rolls back', tx => send(tx, 'rollback')],
  ['own COMMIT', 'rolls back and fails', tx => send(tx, 'rollback').then(fail)],
  ['own COMMIT', 'rolls back and writes on', (tx, id) => send(tx, 'rollback').then(() => tx.credit(id))],
  [
    'own COMMIT',
    'rolls back, writes on and fails',
    (tx, id) =>
      send(tx, 'rollback')
        .then(() => tx.credit(id))
        .then(fail),
  ],
  [
    'own COMMIT',
    'rolls back, and writes in a transaction of its own',
    async (tx, id) => {
      await send(tx, 'rollback', 'start transaction');
      await tx.credit(id);
      await send(tx, 'commit');
    },
  ],
  [
    'own COMMIT',
    'commits, and ignores that a later part fails',
    async (tx, _, failing) => {
      await send(tx, 'commit', 'start transaction');
      await send(tx, failing).catch(() => {});
    },
  ],
  [
    'late queries',
    'sends a failing query without await',
    async (tx, _, failing) => {
      void (async () => {
        await tx.sql('select 1');
        await tx.sql(failing);
      })().catch(() => {});
    },
  ],
];

/** Proofs about the end of a transaction, and what comes after it. */
export function proveEnds<Database>(scene: Scene<Database>): void {
  for (const [proof, name, mistake] of MISTAKES) {
    scene.proof(proof, `credits once or reports it, where an effect ${name}`, async () => {
      const answer = await scene
        .run(async tx => {
          await tx.credit(scene.id);
          await mistake(tx, scene.id, scene.server.failing);
        })
        .catch(() => 'failed');
      await expectOnceOrReported(scene, answer);
    });
  }
  proveKills(scene);
  if (scene.orm.isPool) {
    scene.proof('late queries', 'lets no query of tx write once the effect has returned', async () => {
      let left: Handle | undefined;
      const credit = scene.run(async tx => {
        left = tx;
        await tx.credit(scene.id);
      });
      expect(await credit).toBe('done');
      await expect(left?.credit(scene.id)).rejects.toThrow('has ended');
      expect(await scene.state()).toEqual(ONCE);
    });
  }
}

/** Counted once, or not at all and free to run again, or reported as uncertain and never run again. */
export async function expectOnceOrReported<Database>(scene: Scene<Database>, answer: unknown, id = scene.id) {
  const state = await scene.state(id);
  if (answer === 'done') {
    expect(state).toEqual(ONCE);
    return;
  }
  const again = await scene.run(tx => tx.credit(id), scene.other, id);
  if (state.mark === 'begun') {
    expect(again).toBe('uncertain');
    expect(await scene.state(id)).toEqual(state);
    expect(state.credited).toBeLessThan(2);
  } else expect([state, again, await scene.state(id)]).toEqual([NOTHING, 'done', ONCE]);
}

function proveKills<Database>(scene: Scene<Database>): void {
  const expectGone = async (effect: (tx: Handle) => Promise<unknown>) => {
    await expect(scene.run(effect)).rejects.toThrow();
    expect([await scene.state(), await scene.credit(), await scene.state()]).toEqual([NOTHING, 'done', ONCE]);
  };

  if (!scene.orm.endsProcess) {
    scene.proof('kills', 'keeps nothing of an effect whose connection was killed, and goes on', async () => {
      await expectGone(async tx => {
        await tx.credit(scene.id);
        await kill(scene, tx);
        await tx.credit(scene.id);
      });
    });
  }

  scene.proof('kills', 'does not answer that it ran where the connection was killed behind the effect', async () => {
    await expectGone(async tx => {
      await tx.credit(scene.id);
      await kill(scene, tx);
    });
  });
}
