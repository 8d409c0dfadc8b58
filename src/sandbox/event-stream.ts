// Streams the sandbox's events as an answer without an end.
import type { SandboxEvent } from './events.ts';
import type { Log } from './log.ts';

/** A reader with this many unread events has left silently. */
const LONGEST_BACKLOG = 10_000;

interface Format {
  type: string;
  /** Sent immediately, so that the reader knows that it misses no event. */
  hello: string;
  /** The text of an event, or undefined to skip it. */
  textOf(event: SandboxEvent): string | undefined;
}

export function eventStream(events: Log, { type, hello, textOf }: Format): Response {
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

/** Streams events for a page's EventSource. */
export const serverSentEvents = (events: Log, textOf: Format['textOf']): Response =>
  eventStream(events, {
    type: 'text/event-stream',
    hello: ': hello\n\n',
    textOf: event => {
      const text = textOf(event);
      return text === undefined ? undefined : `data: ${text}\n\n`;
    },
  });
