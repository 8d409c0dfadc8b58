// What every inbox must keep, no matter where it stores its marks.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Inbox, InboxEvent } from '../inbox/contract.ts';
import { gate, type TestFunction } from './test-function.ts';

/** How the suite runs, and over what. */
export interface InboxSuiteOptions {
  /** Registers a test. */
  test: TestFunction;
  /** Makes two inboxes over the same storage, as two replicas have them. Called once per test. */
  make: () => readonly [Inbox, Inbox] | Promise<readonly [Inbox, Inbox]>;
}

/**
 * Registers the tests that every {@link Inbox} must pass. Payments have random ids, so the storage may be shared.
 *
 * @example
 * inboxSuite({ test, make: () => [myInbox(client), myInbox(otherClient)] }); // test of Vitest, Jest or node:test
 */
export function inboxSuite({ test, make }: InboxSuiteOptions): void {
  const event = (status: string, paymentId: string = randomUUID()): InboxEvent => ({
    paymentId,
    status,
    final: ['COMPLETED', 'FAILED', 'CANCELED'].includes(status),
  });

  /** Runs an event, and says whether its work was done. */
  async function run(inbox: Inbox, event: InboxEvent): Promise<string> {
    let worked = false;
    const result = await inbox.run(event, async () => {
      worked = true;
    });
    return `${result}${worked ? ', worked' : ''}`;
  }

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

  test('an inbox lets nothing that is not final take effect after a final status', async () => {
    const [a, b] = await make();
    const id = randomUUID();
    equal(await run(a, event('COMPLETED', id)), 'ran, worked');
    equal(await run(b, event('AUTHORIZED', id)), 'already');
    equal(await run(b, event('SOMETHING_NEW', id)), 'already');
  });

  test('an inbox lets a different final status still take effect, once', async () => {
    const [a, b] = await make();
    const id = randomUUID();
    equal(await run(a, event('COMPLETED', id)), 'ran, worked');
    equal(await run(b, event('FAILED', id)), 'ran, worked');
    deepEqual([await run(a, event('FAILED', id)), await run(b, event('COMPLETED', id))], ['already', 'already']);
  });

  test('an inbox is busy while another worker has the payment, and free for other payments', async () => {
    const [a, b] = await make();
    const completed = event('COMPLETED');
    const [entered, leave] = [gate(), gate()];
    const first = a.run(completed, async () => {
      entered.resolve();
      await leave.promise;
    });
    await entered.promise;
    equal(await run(b, completed), 'busy');
    equal(await run(b, event('FAILED', completed.paymentId)), 'busy');
    equal(await run(b, event('COMPLETED')), 'ran, worked');
    leave.resolve();
    equal(await first, 'ran');
    equal(await run(b, completed), 'already');
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
    for (const status of ["it's; drop table --", '__proto__', 'ZAŻÓŁĆ 😀']) {
      equal(await run(a, { paymentId: id, status, final: false }), 'ran, worked');
      equal(await run(b, { paymentId: id, status, final: false }), 'already');
      equal(await run(b, { paymentId: randomUUID(), status, final: false }), 'ran, worked');
    }
  });

  test('an inbox lets one of many at once through', async () => {
    const [a, b] = await make();
    const completed = event('COMPLETED');
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => run(index % 2 ? a : b, completed)));
    equal(results.filter(result => result === 'ran, worked').length, 1);
    ok(results.every(result => /^(busy|already|ran, worked)$/.test(result)));
  });
}
