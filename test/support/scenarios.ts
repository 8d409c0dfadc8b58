// Merchants' servers for scenarios to be played at: one that is right, and one that believes whatever is posted to it.
import { createWebhookHandler, GatewayClient, type WebhookHandlerOptions } from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';

/** A sandbox whose callbacks go straight to the SDK's own handler. */
export function rightServer(handling: Partial<WebhookHandlerOptions> = {}, options: SandboxOptions<'standard'> = {}) {
  const sandbox: Sandbox = new Sandbox({ ...options, fetch: (url, init) => handler(new Request(url, init)) });
  const gateway = new GatewayClient(sandbox.clientOptions);
  const handler = createWebhookHandler({ gateway, onPayment: () => {}, onError: () => {}, ...handling });
  return { sandbox, gateway };
}

/** A sandbox whose callbacks are all answered so. */
export const serverThat = (answer: (url: string, init: RequestInit) => number | Promise<number>) =>
  new Sandbox({ fetch: async (url, init) => new Response('thanks', { status: await answer(url, init) }) });
