// Prints the latest events, and follows new ones on request.
import { timedLineOf } from './lines.ts';
import { open, type Place } from './remote.ts';

interface LogOptions extends Place {
  follow?: true;
  limit: number;
  json?: true;
}

export async function logs({ follow, limit, json, ...place }: LogOptions, print: (line: string) => void) {
  const { body } = await open(place, 'streamEvents', { limit, follow: follow ?? false });
  let text = '';
  try {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      for (const event of lines.filter(Boolean)) {
        const line = json ? event : timedLineOf(JSON.parse(event));
        if (line) print(line);
      }
    }
  } catch {
    // The sandbox was stopped.
  }
}
