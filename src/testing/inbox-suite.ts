// The tests that every inbox must pass, no matter where it stores its marks.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Inbox, InboxEvent, Mark } from '../inbox/contract.ts';
import { gate, type TestFunction } from './test-function.ts';

/** Options of `inboxSuite`. */
export interface InboxSuiteOptions {
  /** Registers a test. */
  test: TestFunction;
  /** Makes two inboxes over the same storage, as two replicas have them. Called once per test. */
  make: () => readonly [Inbox, Inbox] | Promise<readonly [Inbox, Inbox]>;
}

const FINAL = ['COMPLETED', 'FAILED', 'CANCELED'];
const markOf = (status: string): Mark => ({ status, final: FINAL.includes(status) });
const [COMPLETED, FAILED] = [markOf('COMPLETED'), markOf('FAILED')];

/**
 * Registers the tests that every {@link Inbox} must pass. Payments have random ids, so the storage may be shared.
 *
 * @example
 * inboxSuite({ test, make: () => [myInbox(client), myInbox(otherClient)] }); // test of Vitest, Jest or node:test
 */
export function inboxSuite({ test, make }: InboxSuiteOptions): void {
  test('an inbox lets a status take effect once, in any replica', async () => {
    const [a, b] = await make();
    const completed = event('COMPLETED');
    deepEqual(
      [await run(a, completed), await run(b, completed), await run(a, completed)],
      ['ran, worked', 'already', 'already'],
    );
  });

  test('an inbox lets each status of a payment take effect, in order', async () => {
    const [a, b] = await make();
    const id = randomUUID();
    for (const [index, status] of ['PENDING', 'AUTHORIZED', 'COMPLETED'].entries()) {
      equal(await run(index % 2 ? b : a, event(status, id)), 'ran, worked');
    }
  });

  test('an inbox lets PENDING and AUTHORIZED take no effect after a final status', async () => {
    const [a, b] = await make();
    const id = randomUUID();
    equal(await run(a, event('COMPLETED', id)), 'ran, worked');
    equal(await run(b, event('AUTHORIZED', id)), 'already');
    equal(await run(a, event('PENDING', id)), 'already');
    equal(await run(b, event('PENDING', id, [COMPLETED])), 'already');
  });

  for (const [first, next] of [
    ['COMPLETED', 'FAILED'],
    ['COMPLETED', 'REFUNDED'],
    ['REFUNDED', 'COMPLETED'],
    ['REFUNDED', 'PENDING'],
  ] as const) {
    test(`an inbox answers its marks to ${next} after ${first}, and runs it once they were seen`, async () => {
      const [a, b] = await make();
      const id = randomUUID();
      const marks = [markOf(first)];
      equal(await run(a, event(first, id)), 'ran, worked');
      deepEqual(await run(b, event(next, id)), marks);
      deepEqual(await run(a, event(next, id)), marks);
      equal(await run(b, event(next, id, marks)), 'ran, worked');
      equal(await run(a, event(next, id, marks)), 'already');
      deepEqual([await run(b, event(next, id)), await run(a, event(first, id))], ['already', 'already']);
    });
  }

  test('an inbox answers its marks again if those that were seen are out of date', async () => {
    const [a, b] = await make();
    const id = randomUUID();
    equal(await run(a, event('COMPLETED', id)), 'ran, worked');
    equal(await run(a, event('FAILED', id, [COMPLETED])), 'ran, worked');
    for (const seen of [[], [COMPLETED], [COMPLETED, markOf('CANCELED')]]) {
      deepEqual(await run(b, event('REFUNDED', id, seen)), [COMPLETED, FAILED]);
    }
    equal(await run(b, event('REFUNDED', id, [FAILED, COMPLETED])), 'ran, worked');
  });

  test('an inbox is busy while another worker keeps the payment, and free for other payments', async () => {
    const [a, b] = await make();
    const completed = event('COMPLETED');
    const { first, leave } = await enter(a, completed);
    // Concurrently, because an inbox may wait before it answers busy.
    deepEqual(
      await Promise.all([run(b, completed), run(b, event('FAILED', completed.paymentId)), run(b, event('COMPLETED'))]),
      ['busy', 'busy', 'ran, worked'],
    );
    leave();
    equal(await first, 'ran');
    equal(await run(b, completed), 'already');
  });

  test('an inbox gives a payment to nobody else until its worker has left', async () => {
    const [a, b] = await make();
    const completed = event('COMPLETED');
    const { first, leave } = await enter(a, completed);
    const others = Promise.all([run(b, completed), run(b, event('FAILED', completed.paymentId))]);
    setTimeout(leave, 100);
    const [same, another] = await others;
    // An inbox may wait until then, or be busy.
    ok(same === 'already' || same === 'busy', String(same));
    if (another !== 'busy') deepEqual(another, [COMPLETED]);
    equal(await first, 'ran');
  });

  test('an inbox leaves no mark, and no lock, when the work throws', async () => {
    const [a, b] = await make();
    const completed = event('COMPLETED');
    const failing = a.run(completed, async () => {
      throw new Error('the shop is on fire');
    });
    await rejects(failing, /the shop is on fire/);
    equal(await run(b, completed), 'ran, worked');
  });

  test('an inbox keeps payments and statuses with odd names apart', async () => {
    const [a, b] = await make();
    const id = randomUUID();
    const seen: Mark[] = [];
    for (const status of ["it's; drop table --", '__proto__', 'ZAŻÓŁĆ 😀', '€'.repeat(64)]) {
      equal(await run(a, event(status, id, seen)), 'ran, worked');
      equal(await run(b, event(status, id)), 'already');
      equal(await run(b, event(status)), 'ran, worked');
      seen.push(markOf(status));
    }
    deepEqual(await run(b, event('COMPLETED', id)), seen.sort(byStatus));
  });

  test('an inbox lets one of many at once through', async () => {
    const [a, b] = await make();
    const completed = event('COMPLETED');
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => run(index % 2 ? a : b, completed)));
    equal(results.filter(result => result === 'ran, worked').length, 1);
    ok(results.every(result => /^(busy|already|ran, worked)$/.test(String(result))));
  });

  test('an inbox lets one of two final statuses at once through, and does not run the other', async () => {
    const [a, b] = await make();
    const id = randomUUID();
    const answers = await Promise.all([run(a, event('COMPLETED', id)), run(b, event('FAILED', id))]);
    const [ran, other] = answers[0] === 'ran, worked' ? [COMPLETED, answers[1]] : [FAILED, answers[0]];
    ok(answers.includes('ran, worked'));
    if (other !== 'busy') deepEqual(other, [ran]);
  });
}

const event = (status: string, paymentId: string = randomUUID(), seen?: readonly Mark[]): InboxEvent => ({
  paymentId,
  ...markOf(status),
  seen,
});

const byStatus = (one: Mark, other: Mark): number => (one.status < other.status ? -1 : 1);

/** Runs an event. @returns the result and whether its work ran, or the marks in the order of their statuses */
async function run(inbox: Inbox, event: InboxEvent): Promise<string | readonly Mark[]> {
  let worked = false;
  const answer = await inbox.run(event, async () => {
    worked = true;
  });
  if (typeof answer === 'string') return `${answer}${worked ? ', worked' : ''}`;
  equal(worked, false);
  return [...answer].sort(byStatus);
}

/** Runs an event whose work waits until `leave` is called. */
async function enter(inbox: Inbox, event: InboxEvent) {
  const [entered, leave] = [gate(), gate()];
  const running = inbox.run(event, async () => {
    entered.resolve();
    await leave.promise;
  });
  await Promise.race([entered.promise, running]);
  return { first: running, leave: leave.resolve };
}
