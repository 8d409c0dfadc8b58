// Tests that need something a machine may lack are skipped with a loud line; CI turns the skip into a failure.

/** Whether everything is tested, also what takes long or must be fetched. */
export const isCi = process.env.PAYMENT_GATEWAY_NO_SKIPS === '1';

/**
 * Whether to skip. In CI it throws instead.
 *
 * @param isOptional not even CI can have it everywhere
 */
export function lacks(available: boolean, what: string, isOptional = false): boolean {
  if (available) return false;
  if (isCi && !isOptional) throw new Error(`May not be skipped here: ${what}.`);
  console.warn(`\n  SKIPPED: ${what}.\n`);
  return true;
}
