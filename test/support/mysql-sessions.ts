// Proofs over MySQL that the settings of a session change nothing, and the stored procedures of these proofs.
import { expect, it } from 'vitest';
import { newRow } from '../../src/testing/test-function.ts';
import { NOTHING, ONCE, type Scene } from './orm-scene.ts';
import { uniqueName } from './stores.ts';

/** What a session may begin with, and how it is seen. */
const SESSIONS = [
  ["set session sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,ANSI'", "@@sql_mode like '%NO_BACKSLASH_ESCAPES%'"],
  ["set session sql_mode = ''", "@@sql_mode = ''"],
  ["set session time_zone = '+09:00'", "@@time_zone = '+09:00'"],
  ['set names latin1', "@@character_set_connection = 'latin1'"],
] as const;

/** A stored procedure, whose text the SDK does not see. */
export async function procedure<Database>(scene: Scene<Database>, body: string, parameters = ''): Promise<string> {
  const name = uniqueName('procedure');
  await scene.observer.query(`create procedure ${name}(${parameters}) ${body}`);
  return name;
}

/** Opens the library with sessions that begin with a statement, after which something must hold. */
export async function openSessions<Database>(scene: Scene<Database>, options: string, seen: string) {
  const odd = await scene.open({ options });
  const check = await procedure(scene, "if not holds then signal sqlstate '45000'; end if", 'holds boolean');
  await odd.over().sql(`call ${check}(${seen})`);
  await expect((async () => odd.over().sql(`call ${check}(not ${seen})`))()).rejects.toThrow();
  await scene.observer.query(`drop procedure ${check}`);
  return odd;
}

/** Nothing of a session has a say in what the stores write and read. */
export function proveSessions<Database>(scene: Scene<Database>): void {
  const LEVELS = ['READ UNCOMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'];
  for (const level of LEVELS) {
    scene.proof('session settings', `reads what is committed by then where sessions begin at ${level}`, async () => {
      const strict = await openSessions(
        scene,
        `set session transaction isolation level ${level}`,
        `@@tx_isolation = '${level.replace(' ', '-')}'`,
      );
      const insert = `insert into ${scene.tables.credits} values ('${scene.id}')`;
      const answer = await scene.run(async tx => {
        const before = await tx.times(scene.id);
        await scene.opened
          .begin(async theirs => {
            await scene.opened.over(theirs).sql(insert);
            expect(await tx.times(scene.id)).toBe(0);
            throw new Error('undone');
          })
          .catch(error => expect(error.message).toBe('undone'));
        await scene.observer.query(insert);
        expect([before, await tx.times(scene.id)]).toEqual([0, 1]);
      }, strict);
      const again = [await scene.credit(), await scene.credit(strict)];
      expect([answer, again, await scene.state()]).toEqual(['done', ['skipped', 'skipped'], ONCE]);
    });
  }

  scene.proof('session settings', 'refuses sessions without autocommit, which would lose the rows', async () => {
    const odd = await openSessions(scene, 'set session autocommit = 0', '@@autocommit = 0');
    await expect(scene.credit(odd)).rejects.toThrow('leave autocommit on');
    const row = newRow();
    await expect(scene.storeOf(odd).write(row)).rejects.toThrow('leave autocommit on');
    await odd.over().sql('rollback');
    expect((await scene.storeOf(scene.opened).read(row)).row).toBeUndefined();
    expect([await scene.state(), await scene.credit(), await scene.state()]).toEqual([NOTHING, 'done', ONCE]);
  });

  it('asks for the primary where sessions are read-only', async () => {
    const odd = await openSessions(scene, 'set session transaction read only', '@@tx_read_only');
    await expect(scene.credit(odd)).rejects.toThrow('The store needs the primary.');
    expect(await scene.state()).toEqual(NOTHING);
  });

  for (const [options, seen] of SESSIONS) {
    scene.proof('session settings', `keeps the same marks and rows after ${options}`, async () => {
      const odd = await openSessions(scene, options, seen);
      const results = [await scene.credit(odd), await scene.credit(), await scene.credit(odd)];
      expect(results).toEqual(['done', 'skipped', 'skipped']);

      const scope = uniqueName('scope');
      const [store, plain] = [scene.storeOf(odd, scope), scene.storeOf(scene.opened, scope)];
      const text = `it's \\' "odd" ZAŻÓŁĆ 😀`;
      const { row } = await store.write(newRow({ id: text, data: { text } }));
      expect(row).toMatchObject({ id: text, state: 'begun', data: { text } });
      expect([
        (await plain.read({ kind: 'create', id: text })).row,
        (await store.read({ kind: 'create', id: text })).row,
      ]).toEqual([row, row]);
      expect(Math.abs((row?.begunAt ?? 0) - Date.now())).toBeLessThan(60_000);
    });
  }
}
