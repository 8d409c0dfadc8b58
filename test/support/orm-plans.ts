// Proofs over a library that what is planned or noted with a transaction of the merchant's is kept or undone with it.
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { GatewayClient, type JournalRow } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { completedEvent } from './credits.ts';
import { PAYOUT } from './fixtures.ts';
import { NOTHING, type Scene } from './orm-scene.ts';
import { uniqueName } from './stores.ts';

/** A row of a journal. */
export const ROW: JournalRow = {
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

export function provePlans<Database>(scene: Scene<Database>): void {
  it('writes into a journal within the effect, which keeps or undoes it', async () => {
    const { id: reference, opened } = scene;
    const journal = scene.journalOf(opened);
    const scope = uniqueName('scope');
    const row = { ...ROW, scope, reference };
    const write = (fails: boolean) =>
      scene.inboxOf(opened).run({ ...completedEvent(), paymentId: reference }, async ({ tx }) => {
        expect(await journal.insert(row, tx)).toMatchObject({ isInserted: true });
        const another = { ...row, attemptId: randomUUID() };
        expect(await journal.insert(another, tx)).toMatchObject({ isInserted: false });
        if (fails) throw new Error('shop');
      });
    await expect(write(true)).rejects.toThrow('shop');
    expect((await journal.read({ scope, reference })).row).toBeUndefined();
    await write(false);
    expect((await journal.read({ scope, reference })).row).toMatchObject({ reference, state: 'begun' });
  });

  describe('a create that is planned', () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const scope = uniqueName('scope');
    const planner = (of = scene.opened) => scene.journalOf(of, scope);
    const gatewayOf = (of = scene.opened) => new GatewayClient({ ...sandbox.clientOptions, journal: planner(of) });
    const wanted = () => ({ ...PAYOUT, paymentType: 'WITHDRAWAL', reference: scene.id }) as const;
    const madeOf = () => sandbox.payments.filter(({ reference }) => reference === scene.id).length;
    const stateOf = async () => (await gatewayOf().find(scene.id))?.state;

    scene.proof('plans', 'tells nothing of the customer where the database refuses it', async () => {
      const { opened, observer, tables } = scene;
      const constraint = uniqueName('no_plans');
      await observer.query(
        `alter table ${tables.journal} add constraint ${constraint} check (reference <> '${scene.id}')`,
      );
      // Of another name than a customer's data, which no other test may write.
      const memo = 'for Zoe, Ulica 1/2';
      const error = await opened.begin(tx => planner().plan(tx, wanted(), { extra: { memo } })).catch(error => error);
      await observer.query(`alter table ${tables.journal} drop constraint ${constraint}`);
      expect((error as Error).message).toContain(constraint);
      const printed = inspect(error, { depth: 10, showHidden: true });
      for (const text of [memo, Buffer.from(memo).toString('hex')]) {
        expect(printed).not.toContain(text);
      }
    });

    scene.proof('plans', 'is written with the order, or not at all, and sent once by whoever drains', async () => {
      const { opened, other, id } = scene;
      const order = (fails: boolean) =>
        opened.begin(async tx => {
          await opened.over(tx).credit(id);
          expect((await planner().plan(tx, wanted())).state).toBe('planned');
          expect([await stateOf(), (await gatewayOf(other).drain()).created]).toEqual([undefined, 0]);
          if (fails) throw new Error('shop');
        });
      await expect(order(true)).rejects.toThrow('shop');
      expect([await scene.state(), await stateOf()]).toEqual([NOTHING, undefined]);
      await order(false);
      expect([(await scene.state()).credited, await stateOf(), madeOf()]).toEqual([1, 'planned', 0]);
      const drained = await Promise.all([gatewayOf().drain(), gatewayOf(other).drain(), gatewayOf().drain()]);
      expect(drained.reduce((sum, { created }) => sum + created, 0)).toBe(1);
      expect([await stateOf(), madeOf()]).toEqual(['created', 1]);
    });

    scene.proof('plans', 'is planned again over what was refused, with the transaction or not at all', async () => {
      await scene.opened.begin(tx => planner().plan(tx, wanted()));
      sandbox.faults.next('reject-422');
      expect((await gatewayOf().drain()).refused).toBe(1);
      const again = (fails: boolean) =>
        scene.opened.begin(async tx => {
          expect((await planner().plan(tx, { ...wanted(), amount: '76.00' })).state).toBe('planned');
          if (fails) throw new Error('shop');
        });
      await expect(again(true)).rejects.toThrow('shop');
      expect(await stateOf()).toBe('freed');
      await again(false);
      expect([(await gatewayOf().drain()).created, madeOf()]).toEqual([1, 1]);
    });

    scene.proof('plans', 'is not written where what was passed is no open transaction', async () => {
      await expect(planner().plan(scene.opened.root, wanted())).rejects.toThrow();
      let ended: unknown;
      await scene.opened.begin(async tx => {
        ended = tx;
      });
      await expect(planner().plan(ended, wanted())).rejects.toThrow();
      expect(await stateOf()).toBeUndefined();
    });

    if (scene.orm.nests === 'savepoint') {
      scene.proof('plans', 'is undone with the part of the order that planned it, and kept with the rest', async () => {
        const { opened, id } = scene;
        await opened.begin(async tx => {
          const part = opened.over(tx).nested(async inner => {
            await inner.credit(id);
            await planner().plan(inner.tx, { ...wanted(), reference: `${id}-part` });
            throw new Error('shop');
          });
          await expect(part).rejects.toThrow('shop');
          await planner().plan(tx, wanted());
        });
        expect((await gatewayOf().find(`${id}-part`))?.state).toBeUndefined();
        expect([await scene.state(), await stateOf(), (await gatewayOf().drain()).created]).toEqual([
          NOTHING,
          'planned',
          1,
        ]);
      });
    }
  });
}
