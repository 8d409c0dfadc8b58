// Work that several wait for: who has it given up, and who does not.
import { expect, it } from 'vitest';
import { Deadline } from '../../src/deadline.ts';
import { InFlight } from '../../src/store/in-flight.ts';

const stopped = () => new Error('stopped');

it('work that has ended is not given up: what it has left in the background goes on', async () => {
  let given: AbortSignal | undefined;
  const work = new InFlight(async signal => {
    given = signal;
    return 7;
  });
  expect(await work.wait({ deadline: new Deadline(1_000) }, stopped)).toBe(7);
  expect(given?.aborted).toBe(false);
});

it('work is given up for the reason of the last who waits', async () => {
  const controller = new AbortController();
  const reason = new Error('the shop closes');
  const work = new InFlight(
    signal => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  const waiting = work.wait({ deadline: new Deadline(1_000), signal: controller.signal }, stopped);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

it('work that fails fails for who waits at once', async () => {
  const work = new InFlight(() => Promise.reject(new Error('of the work')));
  await expect(work.wait({ deadline: new Deadline(60_000) }, stopped)).rejects.toThrow('of the work');
});
