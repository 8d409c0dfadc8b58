import { describe, expect, it } from 'vitest';
import { BoundedBody } from '../../src/http/read-body.ts';

/** A stream of chunks that tells whether it was cancelled, and how often it was read. */
function streamOf(...chunks: unknown[]) {
  const seen = { reads: 0, cancels: 0 };
  const stream = {
    getReader: () => ({
      read: async () => {
        seen.reads += 1;
        return chunks.length > 0 ? { done: false, value: chunks.shift() } : { done: true };
      },
      cancel: async () => {
        seen.cancels += 1;
        throw new Error('cancelling fails, too');
      },
    }),
  };
  return { stream, seen };
}

describe('a body', () => {
  it('is what arrived, in order, and its end ends the reading', async () => {
    const body = new BoundedBody(10);
    const { stream, seen } = streamOf('a', Buffer.from('ż').subarray(0, 1), Buffer.from('ż').subarray(1));
    await body.read(stream);
    expect([body.text, body.bytes.length, body.isTooLong]).toEqual(['aż', 3, false]);
    expect(seen).toEqual({ reads: 4, cancels: 0 });
  });

  it.each([
    [9, false],
    [10, false],
    [11, true],
  ])('of %i bytes where 10 are allowed is too long: %s', (length, isTooLong) => {
    const body = new BoundedBody(10);
    for (let byte = 0; byte < length; byte++) body.add('x');
    expect(body.isTooLong).toBe(isTooLong);
  });

  it('that is too long is not read on', async () => {
    const body = new BoundedBody(3);
    const { stream, seen } = streamOf('ab', 'cd', 'ef');
    await body.read(stream);
    expect([body.text, body.isTooLong]).toEqual(['abcd', true]);
    expect(seen).toEqual({ reads: 2, cancels: 1 });
  });

  it('that was given up before it began is not read at all', async () => {
    const body = new BoundedBody(10);
    body.cancel();
    const { stream, seen } = streamOf('a');
    await body.read(stream);
    expect([body.text, seen]).toEqual(['', { reads: 0, cancels: 1 }]);
  });

  it('has no byte order mark at its beginning; elsewhere it is a character like others', () => {
    const body = new BoundedBody(100);
    body.add('\uFEFFa\uFEFFb');
    expect(body.text).toBe('a\uFEFFb');
    const plain = new BoundedBody(100);
    plain.add('a\uFEFF');
    expect(plain.text).toBe('a\uFEFF');
  });

  it.each([
    ['text', 'ab'],
    ['a buffer', Buffer.from('ab')],
    ['bytes', new Uint8Array([97, 98])],
    ['an ArrayBuffer', new Uint8Array([97, 98]).buffer],
    ['a part of one', new DataView(new Uint8Array([0, 97, 98, 0]).buffer, 1, 2)],
  ])('may come as %s', (_, chunk) => {
    const body = new BoundedBody(100);
    body.add(chunk);
    expect([body.text, body.bytes.length]).toEqual(['ab', 2]);
  });
});
