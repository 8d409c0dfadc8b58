// What a driver has told of a statement that is a transaction by itself, so that nobody needs to ask the database.

/** The answers after which no transaction went on. */
const committed = new WeakSet<object>();

/** @param answer of a statement that its connection has run outside any transaction */
export function markCommitted<Answer extends object>(answer: Answer): Answer {
  committed.add(answer);
  return answer;
}

/** Whether it is known; otherwise the statement may belong to a transaction that somebody had begun. */
export const isCommitted = (answer: object): boolean => committed.has(answer);
