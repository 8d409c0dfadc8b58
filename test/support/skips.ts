// Tests that need something a machine may lack are skipped with a loud line; CI turns the skip into a failure.

/** Whether to skip. With `PAYMENT_GATEWAY_NO_SKIPS=1` it throws instead. */
export function lacks(available: boolean, what: string): boolean {
  if (available) return false;
  if (process.env.PAYMENT_GATEWAY_NO_SKIPS === '1') throw new Error(`May not be skipped here: ${what}.`);
  console.warn(`\n  SKIPPED: ${what}.\n`);
  return true;
}
