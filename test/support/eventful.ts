// Sandboxes whose callbacks are taken, and payments of their clients.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';

const webhookUrl = 'https://shop.example/callbacks?token=secret-token';

/** The create of a scenario. */
export const CREATE = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 25.5, currency: 'EUR' } as const;

export const sandboxOf = <T extends 'standard' | 'onramp' = 'standard'>(options: SandboxOptions<T> = {}): Sandbox<T> =>
  new Sandbox({ fetch: async () => new Response(), ...options });

/** A payment of a client of the sandbox. @returns its id */
export const create = async ({ clientOptions }: Sandbox<'standard' | 'onramp'>, request: object = {}) => {
  const gateway = new GatewayClient(clientOptions);
  const fields = { paymentMethod: 'CARD', amount: 25.5, currency: 'EUR', webhookUrl, ...request };
  return (await gateway.createDeposit(fields as never)).payment.id;
};
