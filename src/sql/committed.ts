// Remembers the commits that a driver reported, which saves a query to the database.

const committed = new WeakSet<object>();

/** @param answer of a statement outside any transaction, or the result of a transaction whose COMMIT succeeded */
export function markCommitted<Answer extends object>(answer: Answer): Answer {
  committed.add(answer);
  return answer;
}

/** Checks whether the commit is known. Other code may have begun a transaction, or a COMMIT may have rolled back. */
export const isCommitted = (answer: object): boolean => committed.has(answer);
