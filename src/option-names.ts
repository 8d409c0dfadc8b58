// Refuses a mistyped option by name: one that is silently left alone would do nothing.
import { ConfigurationError } from './errors.ts';
import { unknownFields } from './schemas/hints.ts';

/** @throws {ConfigurationError} for what is no object of these options */
export function checkOptionNames(whose: string, options: object, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(
      `${whose} takes one object of options: { ${names.slice(0, 3).join(', ')} }.`,
    );
  }
  const unknown = Object.keys(options).filter(name => !names.includes(name));
  if (unknown.length > 0) throw new ConfigurationError(`${whose}: ${unknownFields(unknown, names)}.`);
}
