import { memoryInbox, memoryJournal } from 'payment-gateway-sdk';
import { inboxSuite, journalSuite } from 'payment-gateway-sdk/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type JournalAttempt, newRow } from '../../src/journal/row.ts';
import { PAYOUT } from '../support/fixtures.ts';
import { ATTEMPT } from '../support/sql-double.ts';

/** What of the suites takes long. */
const LONG = /in any order of creates|until its worker has left/;
const test = (name: string, run: () => Promise<void>) => it(name, { tags: LONG.test(name) ? 'long' : [] }, run);

describe('memoryJournal', () => {
  journalSuite({
    test,
    make: () => {
      const journal = memoryJournal();
      return [journal, journal];
    },
  });
});

describe('memoryInbox', () => {
  inboxSuite({
    test,
    make: () => {
      const inbox = memoryInbox();
      return [inbox, inbox];
    },
  });
});

describe.each([
  ['memoryInbox', memoryInbox, 'which callbacks were handled', 'postgresInbox'],
  ['memoryJournal', memoryJournal, 'which references were paid', 'postgresJournal'],
])('%s', (name, make, what, instead) => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it('warns under NODE_ENV=production, and only there', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    make();
    expect(warn).not.toHaveBeenCalled();
    vi.stubEnv('NODE_ENV', 'production');
    make();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining(`${name} forgets ${what}`), 'PaymentGatewayWarning');
    expect(warn).toHaveBeenCalledWith(expect.stringContaining(instead), 'PaymentGatewayWarning');
  });
});

describe('memoryJournal, as a sweep and an operator read it,', () => {
  /** Rows that begin at these times, in this order. */
  async function openAt(...times: number[]) {
    let now = 0;
    const journal = memoryJournal({ scope: 'eu', now: () => now });
    for (const time of times) {
      now = time;
      const reference = `order-${time}`;
      await journal.insert({ ...newRow({ ...attempt, reference }, time), dueAt: time });
    }
    now = 1_000;
    return journal;
  }

  it('lists the oldest first', async () => {
    const journal = await openAt(30, 10, 20);
    const { rows } = await journal.list({ scope: 'eu', states: ['begun'] });
    expect(rows.map(({ reference }) => reference)).toEqual(['order-10', 'order-20', 'order-30']);
  });

  it('gives out first what is due first', async () => {
    const journal = await openAt(30, 10, 20);
    const claim = async () => (await journal.claim({ scope: 'eu', states: ['begun'] }, 2, 60_000)).rows;
    expect((await claim()).map(({ reference }) => reference)).toEqual(['order-10', 'order-20']);
    expect((await claim()).map(({ reference }) => reference)).toEqual(['order-30']);
  });

  it('puts a row in the place of a freed one in a transaction alone, and keeps that it was tried before', async () => {
    const journal = memoryJournal({ now: () => 7_000 });
    const first = newRow(ATTEMPT, 1_000);
    const freed = { ...first, state: 'freed', isRetry: true } as const;
    const planned = { ...first, state: 'planned', attemptId: 'plan', dueAt: 1 } as const;
    await journal.insert(freed);
    expect(await journal.insert(planned)).toMatchObject({ isInserted: false, row: { state: 'freed' } });
    expect(await journal.insert(planned, 'tx')).toEqual({
      isInserted: true,
      row: { ...planned, isRetry: true, revision: 2, begunAt: 7_000, dueAt: 7_000 },
      now: 7_000,
    });
    expect(await journal.insert({ ...planned, attemptId: 'other' }, 'tx')).toMatchObject({
      isInserted: false,
      row: { attemptId: 'plan', revision: 2 },
    });
  });

  it('wakes those who watch it by each plan, until they stop to', async () => {
    const journal = memoryJournal({ scope: 'eu' });
    const controller = new AbortController();
    const woken = vi.fn();
    const watching = journal.watch?.(woken, controller.signal);
    await journal.plan(undefined, { ...PAYOUT, paymentType: 'WITHDRAWAL' });
    expect(woken).toHaveBeenCalledTimes(1);
    controller.abort();
    await watching;
    await journal.plan(undefined, { ...PAYOUT, paymentType: 'WITHDRAWAL', reference: 'payout-2' });
    expect(woken).toHaveBeenCalledTimes(1);
  });
});

const attempt: JournalAttempt = {
  scope: 'eu',
  reference: 'order-1',
  attemptId: 'first',
  paymentType: 'DEPOSIT',
  paymentMethod: 'CARD',
  amount: '25.5',
  currency: 'EUR',
  bodyHash: 'hash',
  timeoutMs: 0,
};
