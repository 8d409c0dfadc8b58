// The effect ends its own transaction, so that it may be incomplete: it never runs again until an operator decides.
import type { CallbackEvent, Mark } from 'payment-gateway-sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type CreditsOver,
  completedEvent,
  completedPayment,
  openCallbacks,
  openCreditsOver,
} from '../support/credits.ts';
import type { Database } from '../support/database.ts';
import { describeOver } from '../support/databases.ts';
import { errorOf } from '../support/fixtures.ts';
import { uniqueName } from '../support/stores.ts';

describeOver('an effect whose transaction somebody else has ended', server => {
  let database: Database;
  let observer: Database;
  let credits: CreditsOver;
  let id: string;
  let events: CallbackEvent[];
  let errors: unknown[];
  /** What onPayment does: undefined is a plain credit. */
  let effect: ((tx: unknown) => Promise<unknown>) | undefined;
  let callbacks: ReturnType<typeof openCallbacks>;

  beforeAll(async () => {
    observer = await server.open();
    // It lends one connection at a time: the next payment gets the connection of the payment before.
    database = await server.open({ max: 2 });
    credits = await openCreditsOver(observer);
  });
  afterAll(async () => {
    await credits.close();
    await Promise.all([observer.end(), database.end()]);
  });
  beforeEach(() => {
    id = completedPayment().id;
    [events, errors, effect] = [[], [], undefined];
    callbacks = openCallbacks({
      inbox: credits.inboxOf(database),
      onPayment: (payment, { tx }) => (effect ? effect(tx) : credits.credit(tx, payment.id)),
      onEvent: event => void events.push(event),
      onError: error => void errors.push(error),
    });
  });

  const credit = (tx: unknown) => credits.credit(tx, id);
  const deliver = () => callbacks.deliver(id);
  const resolve = (resolution: 'done' | 'again', status = 'COMPLETED') =>
    credits.inboxOf(database).resolve(id, status, resolution);

  const isPostgres = server.name === 'Postgres';
  /** Statements that fail with an error, with one after which the transaction is repeated, or with a cut connection. */
  const accidents = isPostgres
    ? {
        error: 'select 1/0',
        deadlock: `do $$ begin raise exception 'met another' using errcode = '40P01'; end $$`,
        cut: 'select pg_terminate_backend(pg_backend_pid())',
      }
    : {
        error: `signal sqlstate '45000'`,
        deadlock: `signal sqlstate '40001' set mysql_errno = 1213, message_text = 'met another'`,
        cut: 'kill connection_id()',
      };
  const past = async (tx: unknown, sql: string) => {
    for (const statement of sql.split('; ')) await database.queryIn(tx)(statement);
  };
  const meet = (tx: unknown, accident: keyof typeof accidents) => database.queryIn(tx)(accidents[accident]);
  const fail = async () => {
    throw new Error('shop');
  };

  type Meddle = (tx: unknown) => Promise<unknown>;
  const cases: [name: string, credited: number, meddle: Meddle][] = [
    ['COMMIT', 1, tx => past(tx, 'COMMIT')],
    ['COMMIT, and more in no transaction', 1, tx => past(tx, 'COMMIT; select 1')],
    ['COMMIT and BEGIN', 1, tx => past(tx, 'COMMIT; START TRANSACTION')],
    ['COMMIT AND CHAIN', 1, tx => past(tx, 'COMMIT AND CHAIN')],
    [
      'COMMIT and BEGIN, and then an SQL error that is ignored',
      1,
      async tx => {
        await past(tx, 'COMMIT; START TRANSACTION');
        await meet(tx, 'error').catch(() => {});
      },
    ],
    ['ROLLBACK', 0, tx => past(tx, 'ROLLBACK')],
    ['ROLLBACK AND CHAIN', 0, tx => past(tx, 'ROLLBACK AND CHAIN')],
    [
      'ROLLBACK, and a credit after it',
      1,
      async tx => {
        await past(tx, 'ROLLBACK');
        await credit(tx);
      },
    ],
    [
      'ROLLBACK, and a transaction after it',
      1,
      async tx => {
        await past(tx, 'ROLLBACK; START TRANSACTION');
        await credit(tx);
        await past(tx, 'COMMIT');
      },
    ],
    [
      'ROLLBACK, a credit after it, and then an error',
      1,
      async tx => {
        await past(tx, 'ROLLBACK');
        await credit(tx);
        await fail();
      },
    ],
    [
      'ROLLBACK, a credit after it, and then an SQL error in a transaction after that',
      1,
      async tx => {
        await past(tx, 'ROLLBACK');
        await credit(tx);
        await past(tx, 'START TRANSACTION');
        await meet(tx, 'error');
      },
    ],
    ['COMMIT, and then an error', 1, tx => past(tx, 'COMMIT').then(fail)],
    ['COMMIT and BEGIN, and then an error', 1, tx => past(tx, 'COMMIT; START TRANSACTION').then(fail)],
    [
      'COMMIT, and then a deadlock, which would be repeated',
      1,
      tx => past(tx, 'COMMIT').then(() => meet(tx, 'deadlock')),
    ],
    ['COMMIT, and then a cut connection', 1, tx => past(tx, 'COMMIT').then(() => meet(tx, 'cut'))],
  ];
  // In MySQL, the deadlock looks like one of the whole transaction: docs/orms.md.
  if (isPostgres) {
    const meddle: Meddle = async tx => {
      await past(tx, 'ROLLBACK');
      await credit(tx);
      await meet(tx, 'deadlock');
    };
    cases.push(['ROLLBACK, a credit after it, and then a deadlock, which would be repeated', 1, meddle]);
  } else {
    const table = uniqueName('committing');
    const meddle: Meddle = tx => past(tx, `CREATE TABLE ${table} (n int); DROP TABLE ${table}`);
    cases.push(['CREATE TABLE, before which MySQL commits', 1, meddle]);
  }

  async function expectUncertain(): Promise<void> {
    events = [];
    expect(await deliver()).toBe('503 effect_uncertain');
    expect(events).toContainEqual({
      callId: expect.any(String),
      operation: 'callback',
      paymentId: id,
      type: 'warning',
      code: 'effect_uncertain',
      message: expect.stringContaining(`inbox.resolve('${id}', 'COMPLETED', 'done' or 'again')`),
    });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'callback', result: 'failed', code: 'effect_uncertain', httpStatus: 503 }),
    );
    expect(errors.at(-1)).toMatchObject({ name: 'WebhookError', code: 'effect_uncertain', paymentId: id });
  }

  describe.each(cases)('by %s', (_, credited, meddle) => {
    beforeEach(async () => {
      effect = async tx => {
        await credit(tx);
        await meddle(tx);
      };
      expect(await deliver()).toMatch(/^503 (failed|effect_uncertain)$/);
      effect = undefined;
    });

    it('is never run again by a callback or a sweep: 503, and an event that says what to do', async () => {
      expect(await credits.times(id)).toBe(credited);
      for (let index = 0; index < 3; index++) await expectUncertain();
      await expect(callbacks.handler.process(id)).rejects.toMatchObject({ code: 'effect_uncertain' });
      expect(await credits.times(id)).toBe(credited);
      // Every connection is back in the pool.
      const lent = await Promise.all([database.begin(), database.begin()]);
      for (const { end } of lent) await end('rollback');
    });

    it('took effect once an operator says that it is done', async () => {
      await resolve('done');
      expect([await deliver(), await credits.times(id)]).toEqual(['200 handled before', credited]);
    });

    it('runs with its next callback once an operator says again', async () => {
      await resolve('again');
      expect([await deliver(), await deliver()]).toEqual(['200 handled', '200 handled before']);
      expect(await credits.times(id)).toBe(credited + 1);
    });
  });

  it('says so at once, in the error of the callback that it happened to', async () => {
    effect = tx => past(tx, 'COMMIT');
    expect(await deliver()).toBe('503 failed');
    expect(String(errors[0])).toMatch(
      /The transaction of onPayment ended before onPayment returned, .* until you call inbox\.resolve/,
    );
  });

  it('leaves the client of the pool in no transaction', async () => {
    effect = tx => past(tx, 'COMMIT; START TRANSACTION');
    await deliver();
    const other = completedEvent();
    expect(await credits.inboxOf(database).run(other, ({ tx }) => credits.credit(tx, other.paymentId))).toBe('ran');
    expect(await credits.times(other.paymentId)).toBe(1);
  });

  it('keeps older and newer statuses apart: PENDING comes too late, and a newer final status has its effect', async () => {
    effect = tx => past(tx, 'COMMIT');
    await deliver();
    const run = (status: string, final: boolean, seen?: readonly Mark[]) =>
      credits.inboxOf(database).run({ paymentId: id, status, final, seen }, async () => {});
    expect(await run('PENDING', false)).toBe('already');
    const marks = await run('FAILED', true);
    expect(marks).toEqual([{ status: 'COMPLETED', final: true, begun: true }]);
    expect(await run('FAILED', true, Array.isArray(marks) ? marks : [])).toBe('ran');
    await expectUncertain();
  });

  describe('resolve', () => {
    const refused = (resolution: 'done' | 'again', status?: string) =>
      expect(resolve(resolution, status)).rejects.toMatchObject({
        name: 'InvalidRequestError',
        message: expect.stringContaining('is not in doubt'),
      });

    it.each(['done', 'again'] as const)('%s refuses a payment and a status without a mark', async resolution => {
      await refused(resolution);
      await deliver();
      await refused(resolution, 'FAILED');
    });

    it.each(['done', 'again'] as const)('%s refuses what has taken effect, and keeps its mark', async resolution => {
      await deliver();
      await refused(resolution);
      expect([await deliver(), await credits.times(id)]).toEqual(['200 handled before', 1]);
    });

    it.each(['done', 'again'] as const)('%s refuses what a worker is at, which goes on', async resolution => {
      effect = async tx => {
        await credit(tx);
        await refused(resolution);
      };
      expect([await deliver(), await deliver()]).toEqual(['200 handled', '200 handled before']);
      expect(await credits.times(id)).toBe(1);
    });

    it.each(['done', 'again'] as const)('%s leaves the marks of the other statuses as they are', async resolution => {
      const pending = { paymentId: id, status: 'PENDING', final: false };
      const run = () => credits.inboxOf(database).run(pending, async () => {});
      expect(await run()).toBe('ran');
      effect = tx => past(tx, 'COMMIT');
      await deliver();
      await resolve(resolution);
      expect(await run()).toBe('already');
    });

    it('refuses to be called twice', async () => {
      effect = tx => past(tx, 'COMMIT');
      await deliver();
      await resolve('done');
      await refused('done');
      await refused('again');
    });

    it.each(['Done', 'DONE', '', undefined])('refuses %j, which is neither of the two', async resolution => {
      effect = async tx => {
        await credit(tx);
        await past(tx, 'COMMIT');
      };
      await deliver();
      effect = undefined;
      expect(await errorOf(resolve(resolution as 'done'))).toMatchObject({ name: 'InvalidRequestError' });
      await expectUncertain();
      expect(await credits.times(id)).toBe(1);
    });
  });
});
