// Distinguishes a gateway that refuses requests from one that refuses the client: the latter refuses every request.

/** Refusals in a row: after more, the client may be the cause, for example a wrong sign key. */
const MOST_REFUSALS = 3;

/** Counts the refusals of planned creates since the gateway last accepted a create. */
export class RefusalStreak {
  #length = 0;

  end(): void {
    this.#length = 0;
  }

  /** @returns whether the client may be the cause, so that the plan must be retried */
  add(): boolean {
    this.#length += 1;
    return this.#length > MOST_REFUSALS;
  }
}
