// Prints the latest calls and deliveries, and follows new events on request.

import type { Delivery } from '../callbacks/delivery.ts';
import type { Call, SandboxEvent } from '../events.ts';
import { eventOf } from '../log.ts';
import { timedLineOf } from './lines.ts';
import { call, open, type Place } from './remote.ts';

type Print = (line: string) => void;

interface LogOptions extends Place {
  follow?: true;
  limit: number;
  json?: true;
}

export async function logs({ follow, limit, json, ...place }: LogOptions, print: Print): Promise<void> {
  const tell = (event: SandboxEvent) => {
    const line = json ? JSON.stringify(event) : timedLineOf(event);
    if (line) print(line);
  };
  // The stream opens first, so that no event is lost in between.
  const stream = follow ? await open(place, 'streamEvents') : undefined;
  const told = new Set<string>();
  for (const event of await latest(place, limit)) {
    told.add(keyOf(event));
    tell(event);
  }
  for await (const event of eventsOf(stream)) {
    // A reset restarts the numbers at 1.
    if (event.type === 'reset') told.clear();
    if (!told.delete(keyOf(event))) tell(event);
  }
}

/** Returns the latest calls and deliveries as events, the oldest first. */
async function latest(place: Place, limit: number): Promise<SandboxEvent[]> {
  const { calls } = await call<{ calls: Call[] }>(place, 'listCalls', { limit });
  const { deliveries } = await call<{ deliveries: Delivery[] }>(place, 'listDeliveries', { limit });
  const requests: SandboxEvent[] = calls.filter(({ durationMs }) => durationMs !== undefined).map(eventOf);
  const callbacks = deliveries
    .filter(({ status, error }) => (status ?? error) !== undefined)
    .map((delivery): SandboxEvent => ({ type: 'callback', at: delivery.at, delivery }));
  return [...requests.reverse(), ...callbacks.reverse()].sort((a, b) => a.at - b.at).slice(-limit);
}

const keyOf = (event: SandboxEvent): string =>
  event.type === 'request' ? `call ${event.callId}` : event.type === 'callback' ? `delivery ${event.delivery.id}` : '';

/** Yields one JSON value per line, until the sandbox ends. */
async function* eventsOf(stream: Response | undefined): AsyncGenerator<SandboxEvent> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of stream?.body ?? []) {
      const lines = (text + decoder.decode(chunk, { stream: true })).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (line) yield JSON.parse(line);
    }
  } catch {
    // The sandbox was stopped.
  }
}
