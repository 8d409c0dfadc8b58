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

/** Checks whether the whole text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
