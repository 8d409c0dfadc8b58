// Remembers the commits that a driver reported, which saves a query.
const committed = new WeakSet<object>();

/** @param answer of a statement alone, or the result of a transaction whose COMMIT succeeded */
export function markCommitted<Answer extends object>(answer: Answer): Answer {
  committed.add(answer);
  return answer;
}

/** False if no driver reported the commit. It may have succeeded, or been a part of another's transaction. */
export const isCommitted = (answer: object) => committed.has(answer);
