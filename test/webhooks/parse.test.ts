import { Readable } from 'node:stream';
import { parseWebhook } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { ID, record } from '../support/fixtures.ts';

const body = record('completed CARD callback');

describe('parseWebhook', () => {
  it.each([
    ['a string', body],
    ['a string with a byte order mark', `\uFEFF${body}`],
    ['a Buffer', Buffer.from(body)],
    ['a Uint8Array', new TextEncoder().encode(body)],
    ['an ArrayBuffer', new TextEncoder().encode(body).buffer],
    ['bytes with a byte order mark', Buffer.from(`\uFEFF${body}`)],
    ['an object that a framework has parsed', JSON.parse(body)],
  ])('reads %s', (_, rawBody) => {
    expect(parseWebhook(rawBody)).toMatchObject({
      id: ID,
      paymentStatus: 'COMPLETED',
      paymentMethod: 'CARD',
      description: 'Zamówienie 5/8 😀',
    });
  });

  it('reads a record that has a field named result', () => {
    expect(parseWebhook(`{"result":"ok",${body.slice(1)}`)).toMatchObject({ id: ID, result: 'ok' });
  });

  it.each([
    ['a wrapped record', record('completed lookup')],
    ['a wrapped null', '{"result":null}'],
    ['a parsed, wrapped record', JSON.parse(record('completed lookup'))],
  ])('refuses %s by name', (_, rawBody) => {
    const message = expect.stringContaining('Look the payment up before you act.');
    expect(() => parseWebhook(rawBody)).toThrow(expect.objectContaining({ code: 'wrapped', message }));
  });

  const AS_ARRIVED = 'pass it on unchanged';
  it.each<[code: string, advice: string, name: string, rawBody: unknown]>([
    ['not_json', AS_ARRIVED, 'an empty text', ''],
    ['not_json', AS_ARRIVED, 'a form', 'id=1&paymentStatus=COMPLETED'],
    ['not_json', AS_ARRIVED, 'half a body', body.slice(0, 90)],
    ['not_json', AS_ARRIVED, 'two bodies', body + body],
    ['not_json', AS_ARRIVED, 'text in Latin-1', Buffer.from(body.replace('"order\\/1"', '"caf\u00e9"'), 'latin1')],
    ['not_json', AS_ARRIVED, 'a number', 7],
    ['not_json', 'read it once', 'undefined', undefined],
    ['not_json', 'await request.text()', 'a promise', Promise.resolve(body)],
    ['not_json', 'await request.text()', 'a request', new Request('https://shop.example', { method: 'POST', body })],
    ['not_json', 'await request.text()', 'a stream', new Blob([body]).stream()],
    ['not_json', 'await request.text()', 'a stream of Node', Readable.from([body])],
    ['invalid', 'must be a payment record', 'null', 'null'],
    ['invalid', 'must be a payment record', 'a parsed null', null],
    ['invalid', 'must be a payment record', 'a list', `[${body}]`],
    ['invalid', 'paymentStatus: is missing', 'an empty object', '{}'],
    ['invalid', 'id: ', 'an id that is no UUID', body.replace(ID, 'order-1')],
    ['invalid', 'amount: ', 'no amount', body.replace('"amount":25.5,', '')],
    ['invalid', 'amount: ', 'an amount with a comma', body.replace('25.5', '"25,50"')],
    ['invalid', 'amount: ', 'an amount beyond every double', body.replace('25.5', '1e999')],
    ['invalid', '', 'fields of its prototype', `{"__proto__":${body}}`],
  ])('refuses as %s, with the advice "%s": %s', (code, message, _, rawBody) => {
    expect(() => parseWebhook(rawBody as object)).toThrow(
      expect.objectContaining({ name: 'WebhookError', code, message: expect.stringContaining(message) }),
    );
  });

  it('names the wrong field without its value', () => {
    const wrong = body.replace('25.5', '"zoe@customer.example"');
    expect(() => parseWebhook(wrong)).toThrow('amount: must be a number, or a plain decimal such as "25.50"');
    expect(() => parseWebhook(wrong)).not.toThrow('zoe@');
  });

  it('drops __proto__, from a text and from an object', () => {
    const hostile = body.replace('{', '{"__proto__":{"amount":1,"admin":true},');
    for (const rawBody of [hostile, JSON.parse(hostile)]) {
      const payment = parseWebhook(rawBody);
      expect(Object.getPrototypeOf(payment)).toBe(Object.prototype);
      expect(payment.amount).toBe(25.5);
      expect(payment).not.toHaveProperty('admin');
    }
  });
});
