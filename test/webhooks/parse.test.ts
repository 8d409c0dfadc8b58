import { Readable } from 'node:stream';
import { parseWebhook, WebhookError } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { ID, record } from '../support/fixtures.ts';

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
    ['a form', 'id=1', 'pass it on unchanged'],
    ['nothing', undefined, 'it was already read'],
  ])('says what to do with %s', (_, rawBody, advice) => {
    expect(() => parseWebhook(rawBody as object)).toThrow(
      expect.objectContaining({ code: 'not_json', message: expect.stringContaining(advice) }),
    );
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
