// An app that is bundled: the client alone creates a deposit, and reads it.
import { GatewayClient } from 'payment-gateway-sdk';

async function main() {
  const gateway = new GatewayClient({
    apiKey: 'sandbox-api-key',
    signKey: 'sandbox-sign-key',
    baseUrl: process.argv[2],
  });
  const { payment } = await gateway.createDeposit({
    paymentMethod: 'CARD',
    amount: '25.50',
    currency: 'EUR',
    webhookUrl: 'https://shop.example/callbacks',
  });
  console.log((await gateway.getPayment(payment.id)).paymentStatus);
}

main().catch(error => {
  console.error(error);
  process.exitCode = 1;
});
