// Values that tests share. Records and timestamps were written by PHP: see the scripts in test/fixtures.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FetchInit } from '../../src/http/own-fetch.ts';
import { json } from './wire.ts';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8'));

/** Raw JSON text by name. */
export const RECORDS: Record<string, string> = read('php-records.json');

export const record = (name: string): string => {
  const text = RECORDS[name];
  if (text === undefined) throw new Error(`There is no fixture "${name}".`);
  return text;
};

export const PHP_TIMESTAMPS: {
  zones: Record<string, Record<string, number>>;
  abbreviations: Record<string, number>;
  offsets: Record<string, number>;
  json: Record<string, number>;
} = read('php-timestamps.json');

/** The id of every fixture. */
export const ID = '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10';
export const OTHER_ID = '11111111-2222-4333-8444-555555555555';

export const KEYS = { baseUrl: 'https://gateway.example', apiKey: 'test-api-key', signKey: 'test-sign-key' };

export const webhookUrl = 'https://shop.example/callbacks';

export const CARD = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR', webhookUrl } as const;

export const APPLE_PAY = {
  paymentMethod: 'APPLEPAY',
  amount: 12.99,
  currency: 'USD',
  reference: null,
  returnUrl: null,
  billingAddress: { countryCode: 'US' },
  webhookUrl,
} as const;

/** What a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It should have been rejected.');
}

/** A function that throws. */
export const throwing = (error: unknown) => (): never => {
  throw error;
};

/** A payout with a reference, as a store requires it. */
export const PAYOUT = {
  paymentMethod: 'SEPA',
  amount: '75.00',
  currency: 'EUR',
  reference: 'payout-1',
  webhookUrl: 'https://shop.example/callbacks',
} as const;

/** The body of a request, as the gateway gets it. */
export const bodyOf = ({ body }: FetchInit): Record<string, unknown> => JSON.parse(Buffer.from(body ?? []).toString());

/** The money and the reference of a request. */
function askedOf(init: FetchInit): object {
  const { paymentType, paymentMethod, amount, currency, reference = null } = bodyOf(init);
  return { paymentType, paymentMethod, amount, currency, reference };
}

/** The answer to a create with the payment of its request. */
export const mirrored = (init: FetchInit, changes: object = {}): Response => {
  const payment = { id: randomUUID(), paymentStatus: 'PENDING', ...askedOf(init), ...changes };
  return json(JSON.stringify({ result: payment }), 201);
};

/** Answers a create with a fixture that has the money and the reference of the request. */
export const mirroring =
  (name = 'created card deposit') =>
  (init: FetchInit): Response => {
    const { result, ...transfer } = JSON.parse(record(name));
    return json(JSON.stringify({ ...transfer, result: { ...result, ...askedOf(init) } }), 201);
  };
