// One create for each gateway that is named, on any runtime: prints how it ended.
import { GatewayClient } from 'payment-gateway-sdk';

const [, , id, ...gateways] = process.argv;
const request = { paymentMethod: 'CARD', amount: 25.5, currency: 'EUR', webhookUrl: 'https://shop.example/callbacks' };

for (const gateway of gateways) {
  const { baseUrl, isWarm, length = 0 } = JSON.parse(gateway);
  let ended;
  try {
    const client = new GatewayClient({ apiKey: 'k', signKey: 's', baseUrl, timeout: 2000 });
    if (isWarm) {
      await client.getPayment(id);
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    const { payment } = await client.createDeposit({ ...request, description: 'x'.repeat(length) });
    ended = payment.id === id ? 'created' : 'another payment';
  } catch ({ name, outcome, message }) {
    ended = outcome ?? `${name}: ${message}`;
  }
  console.log(ended);
}
