// Any record is read, whatever of it is absent, null or new, and keeps what it was given.
// @module-tag long

import fc from 'fast-check';
import { GatewayClient, PAYMENT_STATUSES, parseWebhook } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../src/http/exchange.ts';
import { readCreated } from '../../src/payments/response.ts';
import { Call } from '../../src/telemetry/call.ts';
import { KEYS } from '../support/fixtures.ts';
import { json } from '../support/wire.ts';
import { FIELDS_BESIDE, record, tries } from './arbitraries.ts';

type AnyRecord = Record<string, unknown> & { id: string; paymentStatus: string };

/** What the SDK makes of it: a status that it does not know is told as such. */
const asRead = (given: AnyRecord) => {
  const isKnown = PAYMENT_STATUSES.some(status => status === given.paymentStatus);
  return isKnown ? given : { ...given, paymentStatus: 'UNKNOWN', rawPaymentStatus: given.paymentStatus };
};

/** Each way to hand a record to the SDK. */
const WAYS: Record<string, (given: AnyRecord) => unknown> = {
  'as a callback': given => parseWebhook(JSON.stringify(given)),
  'as the bytes of a callback': given => parseWebhook(Buffer.from(`\uFEFF${JSON.stringify(given, null, 2)}`)),
  'as a callback that was parsed': given => parseWebhook(structuredClone(given)),
  'as an answer': given => lookUp(given.id, { result: given }),
  'as an answer that is not wrapped': given => lookUp(given.id, given),
  'as the answer of a create': given => create(given, { result: given }),
  'as the answer of a create that is not wrapped': given => create(given, given),
};

/** As a create of its money reads it. */
const create = async (request: AnyRecord, answer: object) => {
  const answered = { status: 201, body: JSON.stringify(answer), isTooLong: false, isCompressed: false };
  const sent = { ...request, reference: null } as never;
  return readCreated(answered as HttpAnswer, new Call('create', {}), sent).created.payment;
};

const lookUp = (id: string, answer: object) =>
  new GatewayClient({ ...KEYS, fetch: async () => json(JSON.stringify(answer)) }).getPayment(id.toLowerCase());

describe.each(Object.entries(WAYS))('a record %s', (_, read) => {
  it('keeps every field it was given, and gets no other', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(record, async given => {
        for (const [name, value] of Object.entries(given)) seen.add(value === null ? `${name}: null` : name);
        expect(await read(given)).toEqual(asRead(given));
      }),
      tries(40),
    );
    // Each field was there, and null.
    expect(FIELDS_BESIDE.filter(name => !seen.has(name) || !seen.has(`${name}: null`))).toEqual([]);
  });

  it('is read with anything at all in the fields that decide no money', async () => {
    const drifted = fc
      .tuple(record, fc.dictionary(fc.constantFrom(...FIELDS_BESIDE), fc.jsonValue({ maxDepth: 3 })))
      .map(([given, changes]) => ({ ...given, ...changes }));
    await fc.assert(
      fc.asyncProperty(drifted, async given => {
        const { id, paymentStatus, paymentType, amount, currency } = asRead(given);
        expect(await read(given)).toMatchObject({ id, paymentStatus, paymentType, amount, currency });
      }),
      tries(40),
    );
  });
});
