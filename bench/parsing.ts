// The cost of reading a callback, next to JSON.parse of the same bytes.
import { parseWebhook } from 'payment-gateway-sdk';
import { alternate, type Line } from './statistics.ts';

const callback = JSON.stringify({
  id: '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10',
  paymentStatus: 'COMPLETED',
  created: { date: '2026-11-21 08:46:13.476123', timezone_type: 3, timezone: 'UTC' },
  paymentType: 'DEPOSIT',
  description: 'Order 1042',
  paymentMethod: 'ONRAMP_CARD',
  reference: 'order-1042',
  amount: 25.5,
  currency: 'EUR',
  customer: {
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'ada@shop.example',
    phone: '+440000000000',
    ipaddress: '192.0.2.1',
    dateOfBirth: '1990-12-10',
    referenceId: 'customer-7',
  },
  billingAddress: { address1: '1 High Street', city: 'London', countryCode: 'GB', postalCode: 'N1 9GU', state: null },
  cryptoAmount: '27.12345678',
  cryptoCurrency: 'USDC',
  crypto_fx: 0.94,
  settled_crypto_amount: 27.12345678,
  crypto_tx_hash: '0x5b2c1d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c',
  destination_wallet: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
});
const bytes = Buffer.from(callback);
const decoder = new TextDecoder();

export const READERS = {
  'JSON.parse, of text': () => JSON.parse(callback),
  'parseWebhook, of text': () => parseWebhook(callback),
  'JSON.parse, of bytes': () => JSON.parse(decoder.decode(bytes)),
  'parseWebhook, of bytes': () => parseWebhook(bytes),
};
const CALLS = 20_000;

export async function parsing(rounds: number): Promise<Line[]> {
  const scenes = Object.entries(READERS).map(([name, read]) => {
    const scene = () => {
      const begun = performance.now();
      for (let call = 0; call < CALLS; call++) read();
      return ((performance.now() - begun) * 1000) / CALLS;
    };
    return [name, scene] as const;
  });
  const seen = await alternate(rounds, Object.fromEntries(scenes), 2);
  return ['text', 'bytes'].map(form => {
    const [ours, theirs] = [seen(`parseWebhook, of ${form}`), seen(`JSON.parse, of ${form}`)];
    return { what: `parseWebhook, of ${form}`, unit: 'µs', ours, of: 'JSON.parse', theirs, most: 1.5 };
  });
}
