// Next.js, app/callbacks/route.ts: takes callbacks, and pays each order once.
import type { WebhookHandler } from 'payment-gateway-sdk';
import { openCallbacks } from './callbacks.js';

// Made by the first callback: `next build` loads this file where there may be no keys.
let handler: WebhookHandler | undefined;

// The SDK signs with node:crypto, so not the edge runtime.
export const runtime = 'nodejs';

export const POST = (request: Request) => {
  handler ??= openCallbacks();
  return handler(request);
};
