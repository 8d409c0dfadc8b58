// No expectation passes for anything.
import { describe, expect, it } from 'vitest';

const nothing = (): never => {
  throw undefined;
};
const text = (): never => {
  throw new TypeError('the text');
};

/** Whether the expectation fails. */
const fails = async (expectation: () => unknown) => {
  try {
    await expectation();
    return false;
  } catch {
    return true;
  }
};

describe('toThrow', () => {
  it.each([
    ['a text', 'the text'],
    ['a pattern', /text/],
    ['a class', TypeError],
  ])('with %s fails for a thrown undefined, and for nothing thrown, and passes for its error', async (_, expected) => {
    expect(await fails(() => expect(nothing).toThrow(expected))).toBe(true);
    expect(await fails(() => expect(Promise.reject(undefined)).rejects.toThrow(expected))).toBe(true);
    expect(await fails(() => expect(() => {}).toThrow(expected))).toBe(true);
    expect(text).toThrow(expected);
    await expect(Promise.reject(new TypeError('the text'))).rejects.toThrow(expected);
  });

  it('with not passes where nothing is thrown', async () => {
    expect(() => {}).not.toThrow();
    expect(await fails(() => expect(text).not.toThrow())).toBe(true);
  });
});

describe('toMatchObject', () => {
  it.each<[string, object]>([
    ['an empty object', {}],
    ['one in an object', { customer: {} }],
    ['one in a list in an object', { payments: [{ customer: {} }] }],
  ])('with %s fails, whatever it is compared with', async (_, expected) => {
    for (const given of [expected, { customer: null }]) {
      expect(await fails(() => expect(given).toMatchObject(expected))).toBe(true);
      expect(await fails(() => expect(Promise.resolve(given)).resolves.toMatchObject(expected))).toBe(true);
      expect(await fails(() => expect(given).not.toMatchObject(expected))).toBe(true);
    }
  });

  it('takes an empty list, and what matches something', () => {
    const around = { list: [], customer: null, created: new Date(0) };
    expect(around).toMatchObject({ list: [], created: expect.any(Date), customer: null });
    expect(around).not.toMatchObject({ list: [1] });
  });
});
