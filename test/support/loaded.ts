// What the SDK loads on first use is loaded before each file of tests: whichever test comes first, a clock that it fakes races
// against no import. And no timer of a file ends in another one, whose fake clock would count what it begins.
import '../../src/http/client.ts';
import '../../src/http/connection.ts';
import { afterAll } from 'vitest';

const real = globalThis.setTimeout;
const timers: NodeJS.Timeout[] = [];
globalThis.setTimeout = Object.assign((...args: Parameters<typeof real>) => {
  const timer = real(...args);
  timers.push(timer);
  return timer;
}, real);

// Where a store fails, the SDK retries for five minutes.
afterAll(() => {
  globalThis.setTimeout = real;
  for (const timer of timers) clearTimeout(timer);
});
