// Where the customer goes afterwards: a page of the shop, or its app.
import type { AcceptedRequest } from '../../ledger/record.ts';

/** Schemes that run as a script, or show something that is not the shop's. */
const NOT_A_SHOP = /^(?:javascript|vbscript|data|file|blob|filesystem|about|view-source):/i;

/** An address to follow, or one that is only shown, as it leads to no shop. */
export interface ReturnAddress {
  /** As a header can carry it. */
  href?: string;
  refused?: string;
}

export function returnAddressOf({ returnUrl }: AcceptedRequest): ReturnAddress {
  if (typeof returnUrl !== 'string') return {};
  const { href } = new URL(returnUrl);
  return NOT_A_SHOP.test(href) ? { refused: returnUrl } : { href };
}
