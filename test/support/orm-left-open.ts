// Proofs over a library that nothing is sent whose record is in a transaction that somebody had left open on its connection.
import { randomUUID } from 'node:crypto';
import { GatewayClient, JournalError } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, onTestFinished } from 'vitest';
import { PAYOUT } from './fixtures.ts';
import type { OpenOrm } from './orm.ts';
import { NOTHING, ONCE, type Scene } from './orm-scene.ts';
import { uniqueName } from './stores.ts';

/** A library whose pool has one free connection, which somebody has given back within a transaction. */
async function leaveOpen<Database>(scene: Scene<Database>) {
  const own = await scene.open({ max: 2 });
  const taken = Promise.withResolvers<void>();
  const kept = Promise.withResolvers<void>();
  // The other one is in use.
  const using = own.begin(async tx => {
    await own.over(tx).times(scene.id);
    taken.resolve();
    await kept.promise;
  });
  onTestFinished(async () => {
    kept.resolve();
    await using;
  });
  await taken.promise;
  const send = (sql: string) => own.over().sql(sql);
  await send('start transaction');
  return { own, send };
}

/** For each server that tells whether there is a transaction. */
export function proveLeftOpen<Database>(scene: Scene<Database>): void {
  scene.proof(
    'left open',
    'pays once, although the first attempt met a transaction that nobody had ended',
    async () => {
      const { own, send } = await leaveOpen(scene);
      const sandbox = new Sandbox({ fetch: async () => new Response() });
      const journal = scene.journalOf(own, uniqueName('scope'));
      const gateway = new GatewayClient({ ...sandbox.clientOptions, journal });
      const create = () => gateway.createWithdrawal({ ...PAYOUT, reference: scene.id });
      const first = await create().catch((error: unknown) => error);
      if (first instanceof Error) {
        expect(first).toBeInstanceOf(JournalError);
        expect(first).toMatchObject({ outcome: 'not_sent', message: expect.stringContaining('began and did not end') });
        expect(sandbox.payments).toEqual([]);
      }
      await send('rollback');
      const { payment } = await create();
      expect(sandbox.payments.map(({ id }) => id)).toEqual([payment.id]);
    },
  );
}

/** In Postgres, where BEGIN within a transaction is nothing but a warning. */
export function proveOthersUndone<Database>(scene: Scene<Database>): void {
  const other = randomUUID();

  scene.proof('left open', 'commits with an effect nothing that somebody had begun and not ended', async () => {
    const { own, send } = await leaveOpen(scene);
    await send(`insert into ${scene.tables.credits} values ('${other}')`);
    const credit = async (of: OpenOrm<Database>) => {
      const answer = await scene.credit(of).catch((error: unknown) => error);
      if (answer instanceof Error) expect(answer.message).toContain('began and did not end');
      return answer;
    };
    // The first one ends it.
    const answers = [await credit(own), await credit(own)];
    expect(answers.filter(answer => answer === 'ran')).toHaveLength(1);
    expect([await scene.state(), await scene.state(other)]).toEqual([ONCE, NOTHING]);
  });

  scene.proof('left open', 'reports no effect as resolved whose resolution was not committed', async () => {
    const { own, send } = await leaveOpen(scene);
    const { marks } = scene.tables;
    await scene.observer.query(
      `insert into ${marks} (payment_id, status, final) values ('${scene.id}', 'COMPLETED', true)`,
    );
    const resolve = () => scene.inboxOf(own).resolve(scene.id, 'COMPLETED', 'done');
    const first = await resolve().catch((error: unknown) => error);
    await send('rollback');
    if (first) {
      expect(first).toMatchObject({ message: expect.stringContaining('began and did not end') });
      await resolve();
    }
    expect((await scene.state()).marks).toBe('done');
  });
}
