// JSON as the SDK needs it: raw numbers, values that become objects, and texts that are JSON.

// In every Node since 21, but missing in TypeScript's library.
const json = JSON as unknown as {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};
export const { rawJSON } = json;

/** Checks whether JSON writes the value as an object, instead of a list or a wrapped primitive. */
export const isJsonMap = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !json.isRawJSON(value) &&
  !(value instanceof Number || value instanceof String || value instanceof Boolean);

/** Returns the value of a text, or undefined if it is not JSON. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
