// Proofs over a library whose connection was released to the pool within an open transaction.
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished } from 'vitest';
import { newRow } from '../../src/testing/test-function.ts';
import type { OpenOrm } from './orm.ts';
import { NOTHING, ONCE, type Scene } from './orm-scene.ts';

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
  scene.proof('left open', 'reports a create as written only if it was committed', async () => {
    const { own, send } = await leaveOpen(scene);
    const store = scene.storeOf(own);
    const row = newRow({ id: scene.id });
    const first = await store.write(row).catch((error: unknown) => error);
    if (first instanceof Error) expect(first.message).toContain('began and did not end');
    await send('rollback');
    expect((await store.read(row)).row === undefined).toBe(first instanceof Error);
  });
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
    expect(answers.filter(answer => answer === 'done')).toHaveLength(1);
    expect([await scene.state(), await scene.state(other)]).toEqual([ONCE, NOTHING]);
  });
}
