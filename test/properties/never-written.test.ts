// An attempt that a store may have written is taken back, whatever the database has said, unless that is on the list.
// @module-tag long
import fc from 'fast-check';
import { GatewayClient, memoryStore, type Store } from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import { errorOf, KEYS, PAYOUT } from '../support/fixtures.ts';
import { json, wire } from '../support/wire.ts';
import { tries, word } from './arbitraries.ts';

// The databases' own documents: class 08 is a connection that broke, 40 a rollback, 53 and 57 a server in trouble. Of any of
// them the statement may have been committed before.
const uncertain = fc.oneof(
  fc.stringMatching(/^(?:08|25|40|53|55|57|58|XX)[0-9A-Z]{3}$/),
  word('ECONNRESET EPIPE ETIMEDOUT PROTOCOL_CONNECTION_LOST ER_LOCK_DEADLOCK ER_SERVER_SHUTDOWN CONNECTION_CLOSED'),
  word('P1001 P2024 xECONNREFUSED ECONNREFUSEDx 142P01 42P011 28'),
  fc.constantFrom('', undefined, 42, {}),
);
// And those of a statement that was refused before it did anything.
const certain = fc.oneof(
  fc.stringMatching(/^(?:28|42)[0-9A-Z]{3}$/),
  fc.constantFrom('3D000', '3F000', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'),
  fc.constantFrom('ER_ACCESS_DENIED_ERROR', 'ER_DBACCESS_DENIED_ERROR', 'ER_TABLEACCESS_DENIED_ERROR'),
  fc.constantFrom('ER_BAD_DB_ERROR', 'ER_NO_SUCH_TABLE', 'ER_DATA_TOO_LONG'),
);

/** A create whose store writes the attempt, and fails with that code. @returns what is in doubt after it */
async function doubtsAfter(code: unknown): Promise<number> {
  const store = memoryStore();
  const write: typeof store.write = async (row, tx) => {
    const written = await store.write(row, tx);
    if (row.kind === 'create' && row.revision === 0) throw Object.assign(new Error('no'), { code });
    return written;
  };
  const { fetch, sent } = wire(json('{}', 500));
  const gateway = new GatewayClient({ ...KEYS, fetch, store: { ...store, write } as Store });
  expect(await errorOf(gateway.createWithdrawal(PAYOUT))).toMatchObject({ name: 'StoreError', outcome: 'not_sent' });
  expect(sent).toEqual([]);
  return (await store.list({ kind: 'create', states: ['begun'] })).rows.length;
}

it('an attempt is taken back after any error that says nothing of it', async () => {
  await fc.assert(
    fc.asyncProperty(uncertain, async code => void expect(await doubtsAfter(code)).toBe(0)),
    tries(60),
  );
});

it('and is not looked for after one that says that nothing was written', async () => {
  await fc.assert(
    fc.asyncProperty(certain, async code => void expect(await doubtsAfter(code)).toBe(1)),
    tries(60),
  );
});
