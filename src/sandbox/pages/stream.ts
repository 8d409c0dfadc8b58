// Server-sent events: a page that is open hears of what happens.
import type { EventBus, SandboxEvent } from '../event-bus.ts';

/** Sends the text of each event that has one. */
export function stream(events: EventBus, textOf: (event: SandboxEvent) => string | undefined): Response {
  const encoder = new TextEncoder();
  let unsubscribe = () => {};
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(': hello\n\n'));
      unsubscribe = events.subscribe(event => {
        const text = textOf(event);
        if (text !== undefined) controller.enqueue(encoder.encode(`data: ${text}\n\n`));
      });
    },
    cancel: () => unsubscribe(),
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}
