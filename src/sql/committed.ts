// Remembers which statements a driver reported as committed, which saves a query to the database.

/** Answers of statements that were committed by themselves. */
const committed = new WeakSet<object>();

/** @param answer of a statement that its connection ran outside any transaction */
export function markCommitted<Answer extends object>(answer: Answer): Answer {
  committed.add(answer);
  return answer;
}

/** Checks whether the commit is known. Otherwise the statement may belong to a transaction that other code began. */
export const isCommitted = (answer: object): boolean => committed.has(answer);
