// Prints the latest events, and follows new ones.
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { timedLineOf } from './lines.ts';
import { type Fields, open, type Place } from './remote.ts';

export async function logs({ follow = false, limit, json, ...place }: Place & Fields) {
  const { body } = await open(place, 'streamEvents', { limit, follow });
  try {
    for await (const event of createInterface({ input: Readable.fromWeb(body as ReadableStream) })) {
      const line = json || !event ? event : timedLineOf(JSON.parse(event));
      if (line) console.log(line);
    }
  } catch {
    // The sandbox was stopped.
  }
}
