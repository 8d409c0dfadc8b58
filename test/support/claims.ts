// A journal whose rows are claimed at the very moment in which somebody asks to stop.
import type { Journal } from 'payment-gateway-sdk';
import { vi } from 'vitest';

/** A signal that is aborted as soon as the journal has claimed rows, for the first time from now on. */
export function abortedByClaim(journal: Journal): AbortSignal {
  const controller = new AbortController();
  const { claim } = journal;
  vi.spyOn(journal, 'claim').mockImplementationOnce(async (...query) => {
    const claimed = await claim(...query);
    controller.abort();
    return claimed;
  });
  return controller.signal;
}
