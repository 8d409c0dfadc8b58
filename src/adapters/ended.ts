// What becomes of a transaction's handle when its time is over.

export const ENDED =
  'The transaction has ended: onPayment has returned, or the connection broke. So tx takes no more queries: await every query before onPayment returns (await Promise.all(…) instead of forEach, no race against a time-out).';

/**
 * Lets the work of a transaction settle only while there is one. When a connection breaks, postgres.js rejects the
 * transaction at once; and when the work settles after that, it writes to the connection all the same, an error that nobody
 * can catch, which ends the process.
 */
export async function beforeEnd<T>(work: Promise<T>, hasEnded: () => boolean): Promise<T> {
  try {
    return await work;
  } finally {
    // What fails the work may end the transaction in the same turn.
    await new Promise(resolve => setImmediate(resolve));
    if (hasEnded()) await new Promise(() => {});
  }
}
