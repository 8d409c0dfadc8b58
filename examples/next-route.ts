// Next.js, app/callbacks/route.ts: takes callbacks by the handler of payments.ts. Next finds no .ts file by the name of a .js
// file: drop the extension `.js` here, and in the files that you copy with this one.

// The SDK signs with node:crypto, so not the edge runtime.
export const runtime = 'nodejs';

export const POST = async (request: Request) => {
  // Loaded by the first callback: `next build` loads this file where there may be no keys.
  const { handler } = await import('./payments.js');
  return handler(request);
};
