import { Buffer } from 'node:buffer';
import { ConfigurationError } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { keyProblem, keysProblem, NO_SEAL, sealWith } from '../../src/journal/seal.ts';

const key = Buffer.alloc(32, 7);
const place = { scope: 'eu', reference: 'payout-1' };

describe('an encryption key', () => {
  it.each([key, new Uint8Array(32), key.toString('base64')])('is 32 bytes, or their base64: %o', value => {
    expect(keyProblem(value)).toBeUndefined();
    expect(keysProblem([value, key])).toBeUndefined();
  });

  it.each([
    ['none', undefined],
    ['too short', Buffer.alloc(31)],
    ['too long', new Uint8Array(33)],
    ['a base64 that is too short', Buffer.alloc(31).toString('base64')],
    ['a passphrase', 'correct horse battery staple'],
    ['a list of 32 numbers', Array.from({ length: 32 }, () => 7)],
    ['something that is as long', { length: 32 }],
  ])('is not %s', (_, value) => {
    expect(keyProblem(value)).toBe('must be 32 random bytes, or their base64: openssl rand -base64 32');
    expect(keysProblem([key, value])).toBe('must be a list of keys of 32 bytes each');
  });

  it('of the past is one of a list', () => {
    expect(keysProblem([])).toBeUndefined();
    for (const value of [key, key.toString('base64'), undefined, 7]) {
      expect(keysProblem(value)).toBe('must be a list of keys of 32 bytes each');
    }
  });
});

describe('what is planned', () => {
  it('is read by whoever has the key, in either form of it, letters beyond ASCII and all', () => {
    const body = '{"description":"Zażółć 😀"}';
    const closed = sealWith(key).close(body, place);
    expect(sealWith(key.toString('base64')).open(closed, place)).toBe(body);
    expect(sealWith(new Uint8Array(key)).open(closed, place)).toBe(body);
  });

  it('in plain text is refused by a journal with a key: whoever writes the table could plan a payout', () => {
    expect(() => sealWith(key).open('{"request":{}}', place)).toThrow(
      new ConfigurationError('A planned request was planned without a key: drain it with a journal that has none.'),
    );
  });

  it('with a key is refused by a journal without one, which reads everything else as it is', () => {
    expect(() => NO_SEAL.open(sealWith(key).close('{}', place), place)).toThrow(
      new ConfigurationError('A planned request is encrypted: give the journal its encryptionKey.'),
    );
    expect(NO_SEAL.open(NO_SEAL.close('{"a":"aes-256-gcm:"}', place), place)).toBe('{"a":"aes-256-gcm:"}');
  });
});
