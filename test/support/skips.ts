// Tests whose tools are missing are skipped with a warning. CI turns the skip into a failure.

/** Whether `npm run test:full` runs: every database and library, and large numbers. vitest.config.ts sets it. */
export const isFull = process.env.PAYMENT_GATEWAY_FULL === '1';

/**
 * Whether to skip. In CI it throws instead.
 *
 * @param isOptional not even CI can have it everywhere
 */
export function lacks(available: boolean, what: string, isOptional = false): boolean {
  if (available) return false;
  if (process.env.PAYMENT_GATEWAY_NO_SKIPS === '1' && !isOptional) throw new Error(`May not be skipped here: ${what}.`);
  console.warn(`\n  SKIPPED: ${what}.\n`);
  return true;
}
