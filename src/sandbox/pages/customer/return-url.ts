// Checks the address to which the customer returns: a page of the shop, or its app.
import type { AcceptedRequest } from '../../ledger/record.ts';

/** Schemes that run a script, or show content that is not the shop's. */
const NOT_A_SHOP = /^(?:javascript|vbscript|data|file|blob|filesystem|about|view-source):/i;

/** An address to follow, or a refused one that is only shown. */
export interface ReturnAddress {
  /** The address in a form that a header can carry. */
  href?: string;
  refused?: string;
}

export function returnAddressOf({ returnUrl }: AcceptedRequest): ReturnAddress {
  if (typeof returnUrl !== 'string') return {};
  const { href } = new URL(returnUrl);
  return NOT_A_SHOP.test(href) ? { refused: returnUrl } : { href };
}
