// Upkeep: sends plans immediately after their commit, and processes payments whose callbacks were lost.
import { setTimeout } from 'node:timers/promises';
import type { GatewayClient, WebhookHandler } from 'payment-gateway-sdk';

/** Starts the upkeep, in any number of replicas. @returns a function that stops it after finishing running work */
export function startUpkeep(gateway: GatewayClient, handler: WebhookHandler, interval = 60_000): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function sweep(): Promise<void> {
    while (!signal.aborted) {
      try {
        const { processed, gaveUp, failed } = await gateway.sweep({ handler, signal });
        if (processed + gaveUp + failed > 0) console.log('Swept:', { processed, gaveUp, failed });
      } catch (error) {
        console.error(error); // the database is unreachable: the next sweep retries
      }
      await setTimeout(interval, undefined, { signal }).catch(() => {});
    }
  }

  // It survives outages of the database and of the gateway.
  const drain = gateway.drain({ follow: true, signal }).catch(console.error);
  const work = Promise.all([sweep(), drain]);
  return async () => {
    stopping.abort();
    await work;
  };
}
