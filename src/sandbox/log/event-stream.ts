// Streams the sandbox's events as an answer: the latest ones, and on request all later ones.
import type { SandboxEvent } from './events.ts';
import type { Log } from './log.ts';

/** A reader with this many unread events has left silently. */
const LONGEST_BACKLOG = 10_000;

/**
 * Begins with an empty line, so that the reader knows that it misses no event.
 *
 * @param limit the number of latest events to begin with
 * @param follow whether the stream continues with new events
 */
export function eventStream(
  log: Log,
  type: string,
  textOf: (event: SandboxEvent) => string,
  { limit = 0, follow = true } = {},
): Response {
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
      controller.enqueue(encoder.encode('\n'));
      for (const event of limit > 0 ? log.events.slice(-limit) : []) write(event);
      if (follow) unsubscribe = log.subscribe(write);
      else close();
    },
    cancel: () => unsubscribe(),
  });
  return new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-store' } });
}
