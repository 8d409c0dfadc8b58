// Tells a gateway that refuses requests from one that refuses the client: it refuses whatever is sent.

/** After so many refusals in a row it may be the client that is refused, such as for a wrong sign key. */
const MOST_REFUSALS = 3;

/** The refusals of planned creates since the gateway took a create. */
export class RefusalStreak {
  #length = 0;

  end(): void {
    this.#length = 0;
  }

  /** @returns whether the client may be to blame, so that the plan is to be sent again */
  add(): boolean {
    this.#length += 1;
    return this.#length > MOST_REFUSALS;
  }
}
