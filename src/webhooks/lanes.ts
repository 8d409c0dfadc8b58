// Lanes for callbacks of each kind, each bounded in number, bytes and time: a flood in one does not delay the others.
import { WebhookError } from '../errors.ts';
import { type Limited, limit } from '../limit.ts';

/** `signed`, with a good token in its address; `unsigned`, without; `sweep`, by `handler.process`. */
export type LaneName = 'signed' | 'unsigned' | 'sweep';

interface LaneLimits {
  /** Lookups at a time. */
  lookups: number;
  /** Milliseconds to wait for a lookup; undefined: as long as it takes. */
  longestWait?: number;
  /** Callbacks that are read or wait for their answer. */
  callbacks: number;
  /** Of bodies that are read, and of parsed ones that are kept by a framework. */
  bytes: number;
}

const MIB = 2 ** 20;
export const LIMITS: Record<LaneName, LaneLimits> = {
  signed: { lookups: 32, longestWait: 20_000, callbacks: 4_000, bytes: 64 * MIB },
  unsigned: { lookups: 16, longestWait: 10_000, callbacks: 1_000, bytes: 16 * MIB },
  sweep: { lookups: 8, callbacks: 10_000, bytes: 0 },
};

/** A place in a lane, from the arrival of a callback until its answer. */
export interface Place {
  /** @throws {WebhookError} `busy`, if the lane has no room for so many bytes */
  hold(bytes: number): void;
  /** The body is needed no more. */
  releaseBytes(): void;
  leave(): void;
}

/** The room for callbacks of one kind. */
export class Lane {
  readonly name: LaneName;
  /** Runs a lookup at its turn. */
  readonly lookUp: Limited;
  #callbacks = 0;
  #bytes = 0;

  constructor(name: LaneName) {
    const { lookups, longestWait } = LIMITS[name];
    this.name = name;
    this.lookUp = limit(
      lookups,
      longestWait ? { ms: longestWait, error: () => tooMany(`${lookups} lookups`) } : undefined,
    );
  }

  /** @throws {WebhookError} `busy`, if the lane is full */
  enter(): Place {
    const { callbacks, bytes: mostBytes } = LIMITS[this.name];
    if (this.#callbacks >= callbacks) throw tooMany(`${callbacks} callbacks`);
    this.#callbacks += 1;
    let held = 0;
    let hasLeft = false;
    const releaseBytes = () => {
      this.#bytes -= held;
      held = 0;
    };
    return {
      hold: bytes => {
        // A body may go on arriving after its callback was answered.
        if (hasLeft) return;
        if (this.#bytes + bytes > mostBytes) throw tooMany(`bodies of ${mostBytes / MIB} MiB`);
        this.#bytes += bytes;
        held += bytes;
      },
      releaseBytes,
      leave: () => {
        releaseBytes();
        hasLeft = true;
        this.#callbacks -= 1;
      },
    };
  }
}

const tooMany = (what: string): WebhookError =>
  new WebhookError(
    'busy',
    `The callback was not processed: ${what} are being processed already. It may be sent again.`,
  );

/** Milliseconds and ids: a flood of one unknown id costs one lookup, and no flood costs memory. */
const REMEMBERED_FOR = 5_000;
const MOST_REMEMBERED = 10_000;

/** Ids that the gateway did not know a moment ago. */
export class UnknownIds {
  readonly #until = new Map<string, number>();

  has(paymentId: string): boolean {
    return (this.#until.get(paymentId) ?? 0) > performance.now();
  }

  add(paymentId: string): void {
    this.#until.delete(paymentId);
    this.#until.set(paymentId, performance.now() + REMEMBERED_FOR);
    if (this.#until.size <= MOST_REMEMBERED) return;
    const [oldest = ''] = this.#until.keys();
    this.#until.delete(oldest);
  }

  delete(paymentId: string): void {
    this.#until.delete(paymentId);
  }
}
