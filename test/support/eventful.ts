// A payment of a client of the sandbox.
import { GatewayClient } from 'payment-gateway-sdk';
import type { Sandbox } from 'payment-gateway-sdk/sandbox';

const webhookUrl = 'https://shop.example/callbacks?token=secret-token';

/** A payment of a client of the sandbox. @returns its id */
export const create = async ({ clientOptions }: Sandbox, request: object = {}) => {
  const gateway = new GatewayClient(clientOptions);
  const fields = { paymentMethod: 'CARD', amount: 25.5, currency: 'EUR', webhookUrl, ...request };
  return (await gateway.createDeposit(fields as never)).payment.id;
};
