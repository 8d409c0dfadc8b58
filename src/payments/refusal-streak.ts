// Tells a gateway that refuses requests from one that refuses the client: it refuses whatever is sent.

/** After so many refusals in a row it may be the client that is refused, such as for a wrong sign key. */
const MOST_REFUSALS = 3;

/** The refusals of planned creates since the gateway took a create. */
export class RefusalStreak {
  #length = 0;

  end(): void {
    this.#length = 0;
  }

  /** @returns what is to become of the plan: freed, for a person to correct it; or planned again, as it may not be to blame */
  add(): 'freed' | 'planned' {
    this.#length += 1;
    return this.#length > MOST_REFUSALS ? 'planned' : 'freed';
  }
}
