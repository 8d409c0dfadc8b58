// Faults that hurt in production, armed for the next call of the kind they befall.

/** What each fault does to a create. */
const FAULTS = {
  drop: 'The connection breaks before the gateway took the payment.',
  'commit-then-drop': 'The gateway takes the payment, then the connection breaks before any answer.',
  'commit-then-cut': 'The gateway takes the payment, then the connection breaks in the middle of the answer.',
} as const;

export type Fault = keyof typeof FAULTS;

export class Faults {
  readonly #armed: Fault[] = [];

  /** Arms a fault for the next create; several are used up in the order of arming. */
  next(fault: Fault): void {
    if (!Object.hasOwn(FAULTS, fault)) {
      throw new TypeError(
        `No fault is called ${JSON.stringify(fault)}. There are: ${Object.keys(FAULTS).join(', ')}.`,
      );
    }
    this.#armed.push(fault);
  }

  /** Disarms whatever has not befallen a create yet. */
  clear(): void {
    this.#armed.length = 0;
  }

  take(): Fault | undefined {
    return this.#armed.shift();
  }
}

/** What a fetch throws when the other side goes away. */
export const connectionBroke = () =>
  new TypeError('fetch failed', {
    cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
  });

/** Milliseconds for the half to arrive: a stream that fails drops what its readers have not taken yet. */
const HALF_ARRIVES = 20;

/** A response that promises the whole text and breaks in the middle of it. */
export function cutInHalf(text: string, headers: Record<string, string>): Response {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.subarray(0, bytes.length / 2));
    },
    async pull(controller) {
      await new Promise(resolve => setTimeout(resolve, HALF_ARRIVES));
      controller.error(connectionBroke());
    },
  });
  return new Response(body, { headers: { ...headers, 'content-length': String(bytes.length) } });
}
