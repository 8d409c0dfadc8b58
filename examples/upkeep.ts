// A job for a scheduler: run it every minute in every replica. It sends plans, processes payments whose callbacks
// were lost, and logs one line.
import type { Drained, GatewayClient, Swept, WebhookHandler } from 'payment-gateway-sdk';

/** The part of an app that takes payments: payments.ts. */
export interface Payments {
  gateway: Pick<GatewayClient, 'drain' | 'sweep'>;
  handler: WebhookHandler;
}

/** @param signal stops the job: running work is finished, and the next run does the rest */
export async function upkeep({ gateway, handler }: Payments, signal?: AbortSignal): Promise<Drained & Swept> {
  const drained = await gateway.drain({ signal });
  const swept = await gateway.sweep({ handler, signal });
  console.log(JSON.stringify({ time: new Date().toISOString(), ...drained, ...swept }));
  return { ...drained, ...swept };
}
