import { Readable } from 'node:stream';
import { parseWebhook, WebhookError } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { ID, OTHER_ID, record } from '../support/fixtures.ts';

const body = record('completed CARD callback');

const codeOf = (rawBody: unknown): string => {
  try {
    parseWebhook(rawBody as string);
  } catch (error) {
    expect(error).toBeInstanceOf(WebhookError);
    return (error as WebhookError).code;
  }
  return 'parsed';
};

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

  it('reads fallbackPaymentStatus', () => {
    expect(parseWebhook(record('completed GOOGLEPAY callback'))).toHaveProperty('fallbackPaymentStatus', 1);
  });

  it('reads a state that the SDK does not know', () => {
    expect(parseWebhook(body.replace('COMPLETED', 'REFUNDED'))).toMatchObject({
      paymentStatus: 'UNKNOWN',
      rawPaymentStatus: 'REFUNDED',
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
    expect(codeOf(rawBody)).toBe('wrapped');
    expect(() => parseWebhook(rawBody)).toThrow('Look the payment up before you act.');
  });

  it.each([
    ['nothing', ''],
    ['a form', 'id=1&paymentStatus=COMPLETED'],
    ['half a body', body.slice(0, 90)],
    ['two bodies', body + body],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
    ['text in Latin-1', Buffer.from(body.replace('"order\\/1"', '"caf\u00e9"'), 'latin1')],
    ['undefined', undefined],
    ['a number', 7],
  ])('refuses %s as not JSON', (_, rawBody) => {
    expect(codeOf(rawBody)).toBe('not_json');
  });

  it.each([
    ['a promise', Promise.resolve(body), 'await the body first'],
    ['a whole request', new Request('https://shop.example', { method: 'POST', body }), 'await request.text()'],
    ['a stream', new Blob([body]).stream(), 'read it to its end'],
    ['a stream of Node', Readable.from([body]), 'read it to its end'],
    ['a form', 'id=1', 'pass it on as it arrived'],
    ['nothing', undefined, 'it was already read'],
  ])('says what to do with %s', (_, rawBody, advice) => {
    expect(() => parseWebhook(rawBody as object)).toThrow(
      expect.objectContaining({ code: 'not_json', message: expect.stringContaining(advice) }),
    );
  });

  it.each(['headers', 'method'])('reads a payment with a field called %s', field => {
    expect(parseWebhook({ ...JSON.parse(body), [field]: 'x' })).toHaveProperty('id', ID);
  });

  const throwing = () => {
    throw new RangeError('zoe@customer.example');
  };
  it.each<[string, object]>([
    ['a getter that throws', Object.defineProperty(JSON.parse(body), 'amount', { get: throwing })],
    ['a proxy that throws', new Proxy(JSON.parse(body), { getPrototypeOf: throwing })],
    ['a proxy that throws at once', new Proxy({}, { has: throwing })],
    ['a proxy that throws in a map', { ...JSON.parse(body), customer: new Proxy({}, { getPrototypeOf: throwing }) }],
  ])('refuses %s, without its words', (_, rawBody) => {
    const message = 'The callback cannot be read: a getter or a proxy in it throws.';
    const refusal = expect.objectContaining({ name: 'WebhookError', code: 'not_json', message });
    expect(() => parseWebhook(rawBody)).toThrow(refusal);
  });

  it('reads JSON that is nested very deeply', () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    expect(parseWebhook(body.replace('"order\\/1"', deep)).id).toBe(ID);
  });

  it.each([
    ['null', 'null'],
    ['a parsed null', null],
    ['a list', `[${body}]`],
    ['an empty object', '{}'],
    ['an id that is no UUID', body.replace(ID, 'order-1')],
    ['no amount', body.replace('"amount":25.5,', '')],
    ['an amount with a comma', body.replace('25.5', '"25,50"')],
    ['an amount beyond every double', body.replace('25.5', '1e999')],
  ])('refuses %s as invalid, and names the fields', (_, rawBody) => {
    expect(codeOf(rawBody)).toBe('invalid');
  });

  it('names the wrong field without its value', () => {
    const wrong = body.replace('25.5', '"zoe@customer.example"');
    expect(() => parseWebhook(wrong)).toThrow('amount: must be a number, or a plain decimal such as "25.50"');
    expect(() => parseWebhook(wrong)).not.toThrow('zoe@');
  });

  it('counts the last of two names, as JSON.parse does', () => {
    expect(parseWebhook(body.replace('{', `{"id":"${OTHER_ID}",`)).id).toBe(ID);
    expect(parseWebhook(`${body.slice(0, -1)},"id":"${OTHER_ID}"}`).id).toBe(OTHER_ID);
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

  it('does not read missing fields from __proto__', () => {
    const hollow = `{"__proto__":${body}}`;
    expect(codeOf(hollow)).toBe('invalid');
  });
});
