// Next.js, app/callbacks/route.ts: takes callbacks with the handler of payments.ts. Next cannot find a .ts file by
// a .js name: drop the extension `.js` here, and in the files that you copy with this one.

// The SDK signs with node:crypto, so the edge runtime does not work.
export const runtime = 'nodejs';

export const POST = async (request: Request) => {
  // Loaded by the first callback, because `next build` may load this file without keys.
  const { handler } = await import('./payments.js');
  return handler(request);
};
