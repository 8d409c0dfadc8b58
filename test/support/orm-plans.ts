// Proofs over a library that what is planned or noted with a transaction of the merchant's is kept or undone with it.
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { GatewayClient, type JournalRow } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { completedEvent } from './credits.ts';
import { PAYOUT } from './fixtures.ts';
import type { Handle } from './orm.ts';
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

    scene.proof('plans', 'takes nothing with it that is sent at the same time, nor another plan', async () => {
      const { opened, id } = scene;
      for (const selects of [0, 1, 2, 3]) {
        const [first, second] = [`${id}-${selects}`, `${id}-${selects}-late`];
        await opened.begin(async tx => {
          const handle = opened.over(tx);
          const late = async () => {
            for (let select = 0; select < selects; select++) await handle.times(id);
            await handle.credit(id);
            return planner().plan(tx, { ...wanted(), reference: second });
          };
          const both = [planner().plan(tx, { ...wanted(), reference: first }), late()];
          for (const { state } of await Promise.all(both)) expect(state).toBe('planned');
        });
        for (const reference of [first, second]) expect((await gatewayOf().find(reference))?.state).toBe('planned');
        expect((await scene.state()).credited).toBe(selects + 1);
        // Other tests count what they drain.
        expect((await gatewayOf().drain()).created).toBe(2);
      }
    });

    if (scene.orm.nests === 'savepoint') proveNestedPlans();

    function proveNestedPlans() {
      scene.proof('plans', 'is kept where a part of the order that was begun after it is undone', async () => {
        const { opened, id, orm } = scene;
        const ofPart = { ...wanted(), reference: `${id}-part` };
        const order = opened.begin(async tx => {
          const planning = planner().plan(tx, wanted());
          const part = opened.over(tx).nested(async part => {
            await part.credit(id);
            await planner().plan(part.tx, ofPart);
            throw new Error('shop');
          });
          const [planned, undone] = await Promise.allSettled([planning, part]);
          expect(undone).toMatchObject({ reason: { message: 'shop' } });
          if (planned.status === 'rejected') throw planned.reason;
        });
        if (orm.isLate) await expect(order).rejects.toThrow('A nested transaction is open beside the plan');
        else await order;
        const states = [await stateOf(), (await gatewayOf().find(ofPart.reference))?.state];
        expect([await scene.state(), ...states]).toEqual([NOTHING, orm.isLate ? undefined : 'planned', undefined]);
        const once = orm.isLate ? 0 : 1;
        expect([(await gatewayOf().drain()).created, madeOf()]).toEqual([once, once]);
      });

      /** Something that fails in a transaction within the order's, beside a plan. */
      const beside: Record<string, (part: Handle) => Promise<unknown>> = {
        'a check': async () => {
          throw new Error('shop');
        },
        'a slow check': async part => {
          await part.times(scene.id);
          throw new Error('shop');
        },
        'a statement': part => part.sql(scene.server.failing),
      };
      for (const [what, fail] of Object.entries(beside)) {
        for (const isFirst of [true, false]) {
          const order = `which is sent ${isFirst ? 'after' : 'before'} it`;
          scene.proof('plans', `is undone with a part of the order by ${what} that fails, ${order}`, async () => {
            const { opened, id } = scene;
            await opened.begin(async tx => {
              let planning: Promise<unknown> | undefined;
              const plan = (part: Handle) => {
                planning = planner()
                  .plan(part.tx, wanted())
                  .catch(() => {});
                return planning;
              };
              const order = opened.over(tx).nested(async part => {
                await part.credit(id);
                const both = isFirst ? [plan(part), fail(part)] : [fail(part), plan(part)];
                await Promise.all(both);
              });
              await expect(order).rejects.toThrow();
              await planning;
            });
            expect([await scene.state(), await stateOf(), (await gatewayOf().drain()).created]).toEqual([
              NOTHING,
              undefined,
              0,
            ]);
          });
        }
      }
    }
  });
}
