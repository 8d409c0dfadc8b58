import { type Payment, paymentSchema } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import type { CreateRow } from '../../src/store/rules/create-row.ts';
import { expectSameRequest, newAttempt, unseenAttempt } from '../../src/store/rules/fingerprint.ts';
import { mergeKept, withNextAction } from '../../src/store/rules/kept.ts';
import { ID, record } from '../support/fixtures.ts';

const payment: Payment = paymentSchema.parse(JSON.parse(record('created, unwrapped')));

describe('what the store keeps of a request', () => {
  const money = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' } as const;
  const request = { ...money, reference: 'order-1' };

  // printf '{"a":[{"x":1,"y":2}],"amount":"25.5","b":null,"currency":"EUR",…,"reference":"order-1"}' | openssl dgst -sha256
  it('is the SHA-256 of the body with its keys in order', () => {
    const fields = { ...request, b: null, a: [{ y: 2, x: 1 }], c: undefined };
    expect(newAttempt(fields, { timeoutMs: 1 })).toEqual({
      ...{ ...request, amount: '25.5', timeoutMs: 1, attemptId: expect.any(String) },
      bodyHash: '2fa5c7eed3556acdbc5879c44eb06b7c56e47796a92c96e0cb0662ee950311b5',
    });
  });

  it.each([25.5, 100, 1.5e-10])('is what the payment shows, where the request is not known: %d', amount => {
    const shown = { paymentType: 'DEPOSIT', paymentMethod: '', amount: String(amount), currency: 'EUR' };
    const attempt = unseenAttempt({ ...payment, amount, paymentMethod: null });
    expect(attempt).toMatchObject({ ...shown, bodyHash: 'unseen' });
  });
});

describe('another request under the same reference', () => {
  const money = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '25.5', currency: 'EUR' } as const;
  const request = { ...money, reference: 'order-1', bodyHash: 'hash', attemptId: 'first', timeoutMs: 0 };
  const row = (changes: object) => ({ ...request, state: 'created', ...changes }) as CreateRow;
  const compare = (changes: object) => () => expectSameRequest(row(changes), request);

  it.each([
    [{ bodyHash: 'other', amount: '9' }, ['amount']],
    [{ bodyHash: 'other', paymentType: 'WITHDRAWAL', currency: 'USD' }, ['paymentType', 'currency']],
    [{ bodyHash: 'other', currency: 'eur' }, ['currency']],
    [{ bodyHash: 'other' }, ['other fields']],
    [{ bodyHash: 'unseen', amount: '9' }, ['amount']],
    [{ bodyHash: 'unseen', currency: 'USD' }, ['currency']],
    [{ bodyHash: 'unseen', amount: '9', paymentMethod: 'BLIK' }, ['amount']],
  ])('is refused by what differs: %j', (changes, differing) => {
    expect(compare(changes)).toThrow(expect.objectContaining({ name: 'DuplicateReferenceError', differing }));
  });

  it.each([
    ['it has the same body', {}],
    ['its reference is free', { bodyHash: 'other', amount: '9', state: 'freed' }],
    ['only its payment is known, which shows the same', { bodyHash: 'unseen' }],
    ['only its payment is known, whose amount the gateway wrote as a number', { bodyHash: 'unseen', amount: '2.55e1' }],
    ['only its payment is known, whose currency the gateway wrote otherwise', { bodyHash: 'unseen', currency: 'eur' }],
    ['only its payment is known, whose method the customer has chosen', { bodyHash: 'unseen', paymentMethod: 'BLIK' }],
  ])('it is not, where %s', (_, changes) => {
    expect(compare(changes)).not.toThrow();
  });
});

describe('what the store keeps of a payment', () => {
  it('is what the document says of its money, and nothing of the customer', () => {
    const settled = {
      ...payment,
      paymentStatus: 'COMPLETED',
      ...{ cryptoAmount: '23.55658199', cryptoCurrency: 'USDT', crypto_fx: 1.0825 },
      ...{ settled_crypto_amount: 23.55658199, crypto_tx_hash: '0x9f2c', destination_wallet: '0x71c7' },
      ...{ errorMessage: 'x', riskScore: 7, constructor: 'x', created: { ...payment.created, by: 'zoe' } },
    } as Payment;
    expect(mergeKept(undefined, { payment: settled })).toEqual({
      payment: {
        ...{ id: ID, paymentStatus: 'COMPLETED', paymentType: 'DEPOSIT', paymentMethod: 'CARD' },
        ...{ reference: payment.reference, amount: 25.5, currency: 'EUR', created: payment.created },
        ...{ cryptoAmount: '23.55658199', cryptoCurrency: 'USDT', crypto_fx: 1.0825 },
        ...{ settled_crypto_amount: 23.55658199, crypto_tx_hash: '0x9f2c' },
      },
    });
  });

  it('leads nowhere once the payment is final', () => {
    const known = { payment: { ...payment, redirectUrl: 'https://pay.example/p' } };
    const completed = { ...payment, paymentStatus: 'COMPLETED' } as Payment;
    expect(withNextAction(known, { payment: completed })).toEqual({ payment: completed });
    expect(withNextAction(known, { payment })).toEqual(known);
  });
});
