// Streams the sandbox's latest events as an answer, and on request all later ones.
import type { SandboxEvent } from './events.ts';
import type { Log } from './log.ts';

/** Unread events of a reader that has left silently. */
const LONGEST_BACKLOG = 10_000;

export function eventStream(
  log: Log,
  type: string,
  textOf: (event: SandboxEvent) => string,
  { limit = 0, follow = true } = {},
) {
  const encoder = new TextEncoder();
  let unsubscribe = () => {};
  const body = new ReadableStream({
    start(controller) {
      const close = () => {
        unsubscribe();
        controller.close();
      };
      const write = (event: SandboxEvent) => {
        controller.enqueue(encoder.encode(textOf(event)));
        if ((controller.desiredSize ?? 0) <= -LONGEST_BACKLOG) close();
      };
      // Shows the reader that it misses no event from now on.
      controller.enqueue(encoder.encode('\n'));
      if (limit > 0) log.events.slice(-limit).forEach(write);
      if (follow) unsubscribe = log.subscribe(write);
      else close();
    },
    cancel: () => unsubscribe(),
  });
  return new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-store' } });
}
