// Signs the addresses that callbacks are posted to, because the gateway signs no callbacks.
import { Buffer } from 'node:buffer';
import { createHash, createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { foldReference } from '../../schemas/records/matching.ts';
import type { Payment } from '../../schemas/records/payment.ts';
import type { CheckedRequest } from '../../schemas/requests/checked-request.ts';

const PARAMETER = 'callbackToken';

/** Bytes of the digest and of its MAC, short because gateways may limit the length of an address. */
const LENGTH = 16;

export interface TokenCheck {
  /** Returns the token of an address if this client issued it, in the same time for every token. */
  check(url: string): string | undefined;
  /** Returns whether a valid token belongs to the payment. Each fits a payment without a reference. */
  isOf(token: string, payment: Payment): boolean;
}

/** Tokens are `d.mac`: a digest of the reference, and its MAC under a key derived from the sign key. */
export function callbackTokens(signKey: KeyObject, formerSignKeys: readonly KeyObject[]) {
  const key = derive(signKey);
  const keys = [key, ...formerSignKeys.map(derive)];

  return {
    /** Adds the token to a request's addresses, as their last query parameter. A reference has one token. */
    addTo(request: CheckedRequest): CheckedRequest {
      const token = tokenOf(digestOf(request.reference ?? ''), key);
      const signed = (url: string | null | undefined) => url && withToken(url, token);
      return { ...request, webhookUrl: signed(request.webhookUrl), callbackUrl: signed(request.callbackUrl) };
    },

    check(url: string) {
      const token = URL.parse(url, 'http://localhost')?.searchParams.getAll(PARAMETER).at(-1);
      if (token === undefined) return undefined;
      // Compares with every key in full, also after a match.
      const right = keys.map(key => isEqual(token, tokenOf(digestIn(token), key)));
      return right.includes(true) ? token : undefined;
    },

    isOf: (token: string, { reference }: Payment) => !reference || isEqual(digestIn(token), digestOf(reference)),
  };
}

const derive = (signKey: KeyObject): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', signKey, '', 'payment-gateway-sdk callback address v1', 32)));

const digestIn = (token: string): string => token.slice(0, token.indexOf('.'));

const digestOf = (reference: string): string =>
  shortened(createHash('sha256').update(`reference:${foldReference(reference)}`));

const tokenOf = (digest: string, key: KeyObject): string =>
  `${digest}.${shortened(createHmac('sha256', key).update(digest))}`;

const shortened = (hash: { digest(): Buffer }): string => hash.digest().subarray(0, LENGTH).toString('base64url');

/** Compares in constant time, except for texts of other lengths: a token's length is not a secret. */
function isEqual(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function withToken(url: string, token: string): string {
  const fragmentAt = url.search(/#|$/);
  const address = url.slice(0, fragmentAt);
  const separator = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&';
  return `${address}${separator}${PARAMETER}=${token}${url.slice(fragmentAt)}`;
}
