// Makes `toThrow('text')` fail for a thrown `undefined`, of which chai compares no message.
import { chai } from 'vitest';

/** No error, and yet with a message. */
const named = (thrown: unknown): unknown => thrown ?? { message: `${thrown} was thrown, and no error.` };

chai.use(({ Assertion }, { flag }) => {
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
});
