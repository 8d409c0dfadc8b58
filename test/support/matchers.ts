// Makes two matchers fail where they would pass for anything: `toThrow('text')` for a thrown `undefined`, of which chai compares
// no message, and `toMatchObject` with an empty object, which fits null, a number and a text as well.
import { chai } from 'vitest';

/** No error, and yet with a message. */
const named = (thrown: unknown): unknown => thrown ?? { message: `${thrown} was thrown, and no error.` };

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether an empty object is in it, at any depth. */
function hasEmptyObject(expected: unknown, seen = new Set<unknown>()): boolean {
  if (!isObject(expected) || 'asymmetricMatch' in expected || seen.has(expected)) return false;
  seen.add(expected);
  const values = Object.values(expected);
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(expected));
  return (isPlain && values.length === 0) || values.some(value => hasEmptyObject(value, seen));
}

/** Files that share a process share the matchers, and this comes before each of them. */
const shared = globalThis as { hasOurMatchers?: boolean };

if (!shared.hasOurMatchers) chai.use(overwrite);
shared.hasOurMatchers = true;

function overwrite({ Assertion }: Chai.ChaiStatic, { flag }: Chai.ChaiUtils): void {
  Assertion.overwriteMethod('toThrow', overwritten => {
    return function (this: Chai.AssertionStatic & object, ...expected: unknown[]) {
      const given: unknown = flag(this, 'object');
      const isRejected = flag(this, 'promise') === 'rejects';
      const throwing = () => {
        try {
          return (given as () => unknown)();
        } catch (thrown) {
          throw named(thrown);
        }
      };
      flag(this, 'object', isRejected ? named(given) : typeof given === 'function' ? throwing : given);
      return overwritten.apply(this, expected);
    };
  });

  Assertion.overwriteMethod('toMatchObject', overwritten => {
    return function (this: Chai.AssertionStatic & object, ...expected: unknown[]) {
      if (expected.some(part => hasEmptyObject(part))) {
        throw new Error(
          'An empty object in toMatchObject fits anything: expect what is in it, or compare with toEqual.',
        );
      }
      return overwritten.apply(this, expected);
    };
  });
}
