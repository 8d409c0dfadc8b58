// What a scheduler runs every few minutes, in as many replicas as there are: what lost callbacks would have told takes
// effect, and one line is logged. From a script: process.exitCode = await sweepOnce(gateway, handler).
import type { GatewayClient, WebhookHandler } from 'payment-gateway-sdk';

/** @returns the exit code: 1 if somebody should look */
export async function sweepOnce(gateway: GatewayClient, handler: WebhookHandler): Promise<number> {
  const stop = new AbortController();
  const onStop = () => stop.abort(); // what has begun is finished, the rest is left to the next sweep
  process.once('SIGTERM', onStop);
  try {
    const swept = await gateway.sweep({ handler, signal: stop.signal });
    console.log(JSON.stringify({ time: new Date().toISOString(), ...swept }));
    return swept.failed > 0 || swept.gaveUp > 0 ? 1 : 0;
  } finally {
    process.off('SIGTERM', onStop);
  }
}
