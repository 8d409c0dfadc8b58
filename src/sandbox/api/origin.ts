// Detects requests that a page of another site makes a browser send.

/** Returns false for programs, which send neither header. */
export function isForeign({ headers, url }: Request): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = headers.get('origin');
  return origin !== null && origin !== new URL(url).origin;
}
