// One create for each gateway in the arguments, all at the same time, on any runtime. Prints how each ended.
import { GatewayClient } from 'payment-gateway-sdk';
import { request } from './merchant.mjs';

const [, , id, ...gateways] = process.argv;

async function endOf(gateway) {
  const { baseUrl, isWarm, length = 0 } = JSON.parse(gateway);
  try {
    const client = new GatewayClient({ apiKey: 'k', signKey: 's', baseUrl, timeout: 3000 });
    if (isWarm) {
      await client.getPayment(id);
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    const { payment } = await client.createDeposit({ ...request, description: 'x'.repeat(length) });
    return payment.id === id ? 'created' : 'another payment';
  } catch ({ name, outcome, message }) {
    return outcome ?? `${name}: ${message}`;
  }
}

console.log((await Promise.all(gateways.map(endOf))).join('\n'));
