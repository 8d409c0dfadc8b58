// Prints the latest events, and follows new ones on request.
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { timedLineOf } from './lines.ts';
import { open, type Place } from './remote.ts';

interface LogOptions extends Place {
  follow?: true;
  limit: number;
  json?: true;
}

export async function logs({ follow, limit, json, ...place }: LogOptions) {
  const { body } = await open(place, 'streamEvents', { limit, follow: follow ?? false });
  if (!body) return;
  try {
    for await (const event of createInterface({ input: Readable.fromWeb(body as ReadableStream) })) {
      const line = json || !event ? event : timedLineOf(JSON.parse(event));
      if (line) console.log(line);
    }
  } catch {
    // The sandbox was stopped.
  }
}
