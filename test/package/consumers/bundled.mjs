// An app that is bundled: the client alone creates a deposit, and reads it.
import { GatewayClient } from 'payment-gateway-sdk';
import { request } from './merchant.mjs';

async function main() {
  const keys = { apiKey: 'sandbox-api-key', signKey: 'sandbox-sign-key' };
  const gateway = new GatewayClient({ ...keys, baseUrl: process.argv[2] });
  const { payment } = await gateway.createDeposit(request);
  console.log((await gateway.getPayment(payment.id)).paymentStatus);
}

main().catch(error => {
  console.error(error);
  process.exitCode = 1;
});
