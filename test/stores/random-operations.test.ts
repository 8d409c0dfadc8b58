// Every store behaves as the memory one over random sequences of operations, also in transactions that are rolled back.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import {
  type Inbox,
  type InboxEvent,
  type JournalRow,
  type JournalStore,
  type Mark,
  memoryInbox,
  memoryJournal,
} from 'payment-gateway-sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { optional, text, tries } from '../support/arbitraries.ts';
import type { Database } from '../support/database.ts';
import { describeOver } from '../support/databases.ts';
import { uniqueName } from '../support/stores.ts';

const MINUTE = 60_000;

/** A counterexample is told before the test is out of time, also where a smaller one might be found. */
const TRIES = { ...tries(4), interruptAfterTimeLimit: 30_000 };

// What a database may take for the same text: other capitals, accents, a space at the end.
const reference = fc.constantFrom('a', 'A', 'a ', 'ä', 'a\u0308', '😀');
// Scopes that a database may take for one; what is asked for may be of all.
const scope = fc.constantFrom('eu', 'EU');
const ofScope = fc.oneof({ weight: 2, arbitrary: scope }, { weight: 1, arbitrary: fc.constant(undefined) });
const STATES = ['planned', 'begun', 'created', 'freed'] as const;
const states = fc.oneof(fc.constant(STATES), fc.subarray([...STATES], { minLength: 1 }));

/** What a row holds beside its key and its times. */
const content = fc.record(
  {
    state: fc.constantFrom(...STATES),
    attemptId: fc.uuid(),
    timeoutMs: fc.nat(),
    paymentType: fc.constantFrom('DEPOSIT' as const, 'WITHDRAWAL' as const),
    paymentMethod: text,
    amount: fc.constantFrom('25.5', '12345678901234567890.123'),
    currency: text,
    bodyHash: text,
    conflictingIds: fc.array(fc.uuid(), { maxLength: 2 }),
    looks: fc.nat(),
    isRetry: optional(fc.constant(true)).map(value => value ?? undefined),
    paymentId: fc.option(fc.uuid(), { nil: undefined }),
    body: fc.option(text, { nil: undefined }),
    result: fc.option(
      fc.record({
        payment: fc.dictionary(
          text.filter(name => name !== '__proto__'),
          fc.jsonValue({ maxDepth: 2 }),
        ),
      }),
      { nil: undefined },
    ) as fc.Arbitrary<never>,
  },
  {
    requiredKeys: [
      'state',
      'attemptId',
      'timeoutMs',
      'paymentType',
      'paymentMethod',
      'amount',
      'currency',
      'bodyHash',
      'conflictingIds',
      'looks',
    ],
  },
);

/** Minutes from now; of two rows never the same ones, because between them a store may choose. */
const minutes = fc.option(fc.integer({ min: -20, max: 4 }).filter(Boolean), { nil: undefined });
const rarely = fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: minutes });
/** Inside a transaction of the merchant's, and how that ends. */
const within = fc.constantFrom(undefined, undefined, 'commit' as const, 'rollback' as const);

type Operation =
  | { does: 'insert'; scope: string; reference: string; content: Content; isDue: boolean; within: Within }
  | {
      does: 'replace';
      scope: string;
      reference: string;
      content: Content;
      dueIn: number | undefined;
      leasedFor: number | undefined;
      isStale: boolean;
    }
  | { does: 'read'; scope: string; reference: string }
  | { does: 'list'; scope: string | undefined; states: readonly JournalRow['state'][] }
  | {
      does: 'claim';
      scope: string | undefined;
      states: readonly JournalRow['state'][];
      limit: number;
      olderThan: number | undefined;
    };
type Content = Omit<JournalRow, 'scope' | 'reference' | 'begunAt' | 'revision'>;
type Within = 'commit' | 'rollback' | undefined;

const does = <D extends string>(name: D) => fc.constant(name);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: does('insert'), scope, reference, content, isDue: fc.boolean(), within }) },
  {
    weight: 7,
    arbitrary: fc.record({
      does: does('replace'),
      scope,
      reference,
      content,
      dueIn: minutes,
      leasedFor: rarely,
      isStale: fc.integer({ max: 4, min: 0 }).map(value => value === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: does('read'), scope, reference }) },
  { weight: 1, arbitrary: fc.record({ does: does('list'), scope: ofScope, states }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: does('claim'),
      scope: ofScope,
      states,
      limit: fc.integer({ min: 1, max: 3 }),
      olderThan: fc.constantFrom(undefined, 0, MINUTE),
    }),
  },
);

/** Runs a work in a transaction of the merchant's that ends so, or in none; what was rolled back answers nothing. */
type Run = <T>(ends: Within, work: (tx?: unknown) => Promise<T>) => Promise<T | undefined>;

/** Of a memory store, which knows no transaction. */
const runInMemory: Run = async (ends, work) => (ends === 'rollback' ? undefined : work(ends));

const runIn =
  (database: Database): Run =>
  async (ends, work) => {
    if (!ends) return work();
    const { tx, end } = await database.begin();
    const answer = await work(tx).catch(async error => {
      await end('rollback');
      throw error;
    });
    await end(ends);
    return ends === 'commit' ? answer : undefined;
  };

interface Scene {
  /** By the clock of the store, before the operation. */
  now: number;
  /** How many operations were before. */
  step: number;
}

/** @returns what the store answers, and the moment that it did something at */
async function perform(store: JournalStore, run: Run, operation: Operation, { now, step }: Scene) {
  const { scope } = operation;
  if (operation.does === 'list') return store.list({ scope, states: operation.states });
  if (operation.does === 'claim') {
    const { states, limit, olderThan } = operation;
    return store.claim({ scope, states, olderThan }, limit, MINUTE);
  }
  const key = { scope: operation.scope, reference: operation.reference };
  const { row, ...read } = await store.read(key);
  if (operation.does === 'read') return { row, ...read };
  const { content } = operation;
  if (operation.does === 'insert') {
    const dueAt = operation.isDue ? 1 : undefined;
    const written = { ...content, ...key, begunAt: 0, revision: 7, dueAt };
    const answer = await run(operation.within, tx => store.insert(written, tx));
    return { ...answer, now: answer?.isInserted ? answer.row.begunAt : read.now };
  }
  // Moments that no other row has.
  const moment = (minutes: number | undefined) => (minutes === undefined ? undefined : now + minutes * MINUTE + step);
  const times = {
    begunAt: row?.begunAt ?? 0,
    dueAt: moment(operation.dueIn),
    leasedUntil: moment(operation.leasedFor),
  };
  const revision = (row?.revision ?? 1) - (operation.isStale ? 1 : 0);
  const changed = { ...content, ...key, ...times, revision: 7 };
  return { ...read, ...(await store.replace(changed, revision)) };
}

/** What a store has set by its clock, which goes on within a statement, is the same if it is so within seconds. */
function agree(answer: unknown, expected: unknown): boolean {
  if (typeof answer !== 'object' || typeof expected !== 'object' || !answer || !expected)
    return Object.is(answer, expected);
  const [own, other] = [answer, expected] as [Record<string, unknown>, Record<string, unknown>];
  const names = new Set([...Object.keys(own), ...Object.keys(other)]);
  return [...names].every(name => {
    const [a, b] = [own[name], other[name]];
    const isTime = /^(now|begunAt|dueAt|leasedUntil)$/.test(name) && typeof a === 'number' && typeof b === 'number';
    return isTime ? Math.abs(a - b) < 10_000 : agree(a, b);
  });
}

describeOver('a journal', ({ open }) => {
  const table = uniqueName('journal');
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.journal({ table }).migrate();
  });
  afterAll(async () => {
    await database.query(`drop table ${table}`);
    await database.end();
  });

  it('behaves as memoryJournal over random sequences of operations, in transactions too', async () => {
    const replicas = [database.journal({ table }), database.journal({ table })];
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 80, maxLength: 100, size: 'max' }), async operations => {
        let now = 0;
        const memory = memoryJournal({ now: () => now });
        // What is asked of all scopes is in this run's.
        await database.query(`delete from ${table}`);
        ({ now } = await (replicas[0] as JournalStore).read({ scope: '-', reference: '-' }));
        for (const [step, operation] of operations.entries()) {
          const store = replicas[step % 2] as JournalStore;
          const scene = { now, step };
          const answer = await perform(store, runIn(database), operation, scene);
          now = answer.now;
          const expected = await perform(memory, runInMemory, operation, scene);
          if (!agree(asJson(answer), asJson(expected)))
            expect([step, operation.does, answer]).toEqual([step, operation.does, expected]);
          // So that no two rows begin at one moment: between those, a store may choose.
          while ('row' in answer && 'isInserted' in answer && now <= (answer.row?.begunAt ?? 0))
            ({ now } = await store.read({ scope: '-', reference: '-' }));
          const did = nameOf(operation, answer);
          seen.set(did, (seen.get(did) ?? 0) + 1);
        }
      }),
      TRIES,
    );
    expect(DONE.filter(name => !seen.has(name))).toEqual([]);
  });
});

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

/** What an operation has done, so that it is seen that each was tried with each end. */
function nameOf({ does, ...operation }: Operation, answer: object): string {
  const ends = 'within' in operation && operation.within ? `, ${operation.within}` : '';
  const of = operation.scope === undefined ? ' of all scopes' : '';
  const { isInserted, isReplaced, rows, row } = answer as Record<string, unknown>;
  const found =
    isInserted ?? isReplaced ?? (Array.isArray(rows) ? rows.length > 0 : does === 'read' && row !== undefined);
  return `${does}${of}${ends}: ${Boolean(found)}`;
}
const DONE = [
  ...['claim', 'claim of all scopes', 'list', 'read'].flatMap(name => [`${name}: false`, `${name}: true`]),
  // All scopes have a row soon.
  'list of all scopes: true',
  ...['insert', 'replace'].flatMap(name => [`${name}: false`, `${name}: true`]),
  ...['insert, commit: false', 'insert, commit: true', 'insert, rollback: false'],
];

const STATUSES = [
  'PENDING',
  'AUTHORIZED',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'REFUNDED',
  '__proto__',
  'completed',
  'COMPLETED ',
];

interface Callback {
  /** Of two payments. */
  payment: number;
  status: string;
  /** Which marks its sender was told: none, those of now, or some of them. */
  told: 'none' | 'all' | 'some';
  fails: boolean;
}

const callback: fc.Arbitrary<Callback> = fc.record({
  payment: fc.nat(1),
  status: fc.constantFrom(...STATUSES),
  told: fc.constantFrom('none' as const, 'all' as const, 'some' as const),
  fails: fc.integer({ min: 0, max: 3 }).map(value => value === 0),
});

const byStatus = (one: Mark, other: Mark) => (one.status < other.status ? -1 : 1);

/** What became of an event: what the inbox says, and whether the work ran. */
async function take(inbox: Inbox, event: InboxEvent, fails: boolean) {
  let works = 0;
  const answer = await inbox
    .run(event, async () => {
      works += 1;
      if (fails) throw new Error('the shop is on fire');
    })
    .catch(error => String(error));
  return { works, answer: typeof answer === 'string' ? answer : [...answer].sort(byStatus) };
}

async function playCallbacks(replicas: readonly Inbox[]): Promise<void> {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(callback, { minLength: 15, maxLength: 30, size: 'max' }), async callbacks => {
      const memory = memoryInbox();
      const ids = [randomUUID(), randomUUID()];
      const told = new Map<string, readonly Mark[]>();
      for (const [step, { payment, status, told: which, fails }] of callbacks.entries()) {
        const paymentId = ids[payment] as string;
        const marks = told.get(paymentId) ?? [];
        const known = { none: undefined, all: marks, some: marks.slice(1) }[which];
        const event = { paymentId, status, final: ['COMPLETED', 'FAILED', 'CANCELED'].includes(status), seen: known };
        const expected = await take(memory, event, fails);
        expect([step, await take(replicas[step % 2] as Inbox, event, fails)]).toEqual([step, expected]);
        if (Array.isArray(expected.answer)) told.set(paymentId, expected.answer);
        seen.add(Array.isArray(expected.answer) ? 'marks' : String(expected.answer));
      }
    }),
    TRIES,
  );
  expect(seen).toEqual(new Set(['ran', 'already', 'marks', 'Error: the shop is on fire']));
}

describeOver('an inbox', ({ open }) => {
  const table = uniqueName('inbox');
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.inbox({ table }).migrate();
  });
  afterAll(async () => {
    await database.query(`drop table ${table}`);
    await database.end();
  });

  it('behaves as memoryInbox over random sequences of callbacks', () =>
    playCallbacks([database.inbox({ table }), database.inbox({ table })] as unknown as Inbox[]));
});
