// Proofs over a library that a row written in a merchant's transaction is kept or undone with it.
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { StoreRow } from '../../src/store/contract.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { NOTHING, type Scene } from './orm-scene.ts';
import { uniqueName } from './stores.ts';

const PLANNED = { kind: 'create', states: ['planned'] } as const;

export function provePlans<Database>(scene: Scene<Database>): void {
  const scope = uniqueName('scope');
  const storeOf = (of = scene.opened) => scene.storeOf(of, scope);
  const wanted = (data: object = {}) => newRow({ id: scene.id, state: 'planned', dueAt: 0, data });
  const stateOf = async (id = scene.id) => (await storeOf().read({ kind: 'create', id })).row?.state;

  it('writes a row within the effect, which keeps or undoes it', async () => {
    const row = newRow({ id: scene.id });
    const write = (fails: boolean) =>
      scene.run(async ({ tx }) => {
        expect((await storeOf().write(row, tx)).isWritten).toBe(true);
        expect((await storeOf().write(row, tx)).isWritten).toBe(false);
        if (fails) throw new Error('shop');
      });
    await expect(write(true)).rejects.toThrow('shop');
    expect(await stateOf()).toBeUndefined();
    await write(false);
    expect(await stateOf()).toBe('begun');
  });

  describe('a planned row', () => {
    scene.proof('plans', 'shows no customer data if the database refuses it', async () => {
      const { opened, observer, tables } = scene;
      const constraint = uniqueName('no_plans');
      await observer.query(`alter table ${tables.rows} add constraint ${constraint} check (id <> '${scene.id}')`);
      const memo = 'for Zoe, Ulica 1/2';
      const error = await opened.begin(tx => storeOf().write(wanted({ memo }), tx)).catch(error => error);
      await observer.query(`alter table ${tables.rows} drop constraint ${constraint}`);
      expect((error as Error).message).toContain(constraint);
      const printed = inspect(error, { depth: 10, showHidden: true });
      for (const text of [memo, Buffer.from(memo).toString('hex')]) {
        expect(printed).not.toContain(text);
      }
    });

    scene.proof('plans', 'is written with the order, or not at all, and leased to one worker', async () => {
      const { opened, other, id } = scene;
      const lease = async (of = opened) => {
        const { rows } = await storeOf(of).due(PLANNED, 10, 60_000);
        return rows.map(row => row.id).filter(leased => leased === id);
      };
      const order = (fails: boolean) =>
        opened.begin(async tx => {
          await opened.over(tx).credit(id);
          expect((await storeOf().write(wanted(), tx)).isWritten).toBe(true);
          expect([await stateOf(), await lease(other)]).toEqual([undefined, []]);
          if (fails) throw new Error('shop');
        });
      await expect(order(true)).rejects.toThrow('shop');
      expect([await scene.state(), await stateOf()]).toEqual([NOTHING, undefined]);
      await order(false);
      expect([(await scene.state()).credited, await stateOf()]).toEqual([1, 'planned']);
      const leased = await Promise.all([lease(), lease(other), lease()]);
      expect(leased.flat()).toEqual([id]);
    });

    scene.proof('plans', 'replaces a freed row with the transaction, or not at all', async () => {
      const { row } = await storeOf().write(newRow({ id: scene.id, state: 'freed' }));
      const again = (fails: boolean) =>
        scene.opened.begin(async tx => {
          const next = { ...(row as StoreRow), state: 'planned' };
          expect((await storeOf().write(next, tx)).isWritten).toBe(true);
          if (fails) throw new Error('shop');
        });
      await expect(again(true)).rejects.toThrow('shop');
      expect(await stateOf()).toBe('freed');
      await again(false);
      expect(await stateOf()).toBe('planned');
    });

    scene.proof('plans', 'is refused outside an open transaction', async () => {
      await expect((async () => storeOf().write(wanted(), scene.opened.root))()).rejects.toThrow();
      let ended: unknown;
      await scene.opened.begin(async tx => {
        ended = tx;
      });
      await expect((async () => storeOf().write(wanted(), ended))()).rejects.toThrow();
      expect(await stateOf()).toBeUndefined();
    });

    if (scene.orm.nests === 'savepoint') {
      scene.proof('plans', 'is undone with its part of the order, and kept with the rest', async () => {
        const { opened, id } = scene;
        await opened.begin(async tx => {
          const part = opened.over(tx).nested(async inner => {
            await inner.credit(id);
            await storeOf().write({ ...wanted(), id: `${id}-part` }, inner.tx);
            throw new Error('shop');
          });
          await expect(part).rejects.toThrow('shop');
          await storeOf().write(wanted(), tx);
        });
        expect([await stateOf(`${id}-part`), await scene.state(), await stateOf()]).toEqual([
          undefined,
          NOTHING,
          'planned',
        ]);
      });
    }
  });
}
