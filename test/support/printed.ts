// Everything that somebody who prints a value could see of it.
import { format, inspect } from 'node:util';

/** Whatever printing, serialising or walking an object can reach, accessors aside. */
export function everythingIn(value: unknown): string {
  const seen = new Set<unknown>();
  const walk = (part: unknown): string => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return String(part);
    seen.add(part);
    // Printed as numbers, and yet there: the parser of HTTP keeps what it could not read.
    if (part instanceof Uint8Array) return Buffer.from(part).toString();
    const own = Object.getOwnPropertyDescriptors(part);
    return Reflect.ownKeys(own)
      .map(key => `${String(key)}=${walk((own as Record<PropertyKey, PropertyDescriptor>)[key]?.value)}`)
      .join('\n');
  };
  const printed = [
    inspect({ nested: [value] }, { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true }),
    format('%s %o %O %j', value, value, value, value),
    value instanceof Error ? value.stack : '',
  ];
  return [...printed, walk(value)].join('\n');
}
