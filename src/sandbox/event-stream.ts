// What happens in the sandbox from now on, as an answer that does not end by itself.
import type { EventBus, SandboxEvent } from './event-bus.ts';

/** A reader that is so many events behind has gone away without saying so. */
const LONGEST_BACKLOG = 10_000;

interface Format {
  type: string;
  /** What is sent at once: the reader knows then that it misses nothing. */
  hello: string;
  /** As it is sent; undefined for an event that is not. */
  textOf(event: SandboxEvent): string | undefined;
}

export function eventStream(events: EventBus, { type, hello, textOf }: Format): Response {
  const encoder = new TextEncoder();
  let unsubscribe = () => {};
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(hello));
      unsubscribe = events.subscribe(event => {
        const text = textOf(event);
        if (text === undefined) return;
        controller.enqueue(encoder.encode(text));
        if ((controller.desiredSize ?? 0) > -LONGEST_BACKLOG) return;
        unsubscribe();
        controller.close();
      });
    },
    cancel: () => unsubscribe(),
  });
  return new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-store' } });
}

/** For an EventSource of a page. */
export const serverSentEvents = (events: EventBus, textOf: Format['textOf']): Response =>
  eventStream(events, {
    type: 'text/event-stream',
    hello: ': hello\n\n',
    textOf: event => {
      const text = textOf(event);
      return text === undefined ? undefined : `data: ${text}\n\n`;
    },
  });
