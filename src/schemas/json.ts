// What JSON makes of a value, and whether a text is JSON, or a page.

// In every Node since 21, and not yet in TypeScript's library.
const json = JSON as unknown as {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};
export const { rawJSON } = json;

/** Whether JSON writes the value as names and values, and neither as a list nor as the primitive that it holds. */
export const isJsonMap = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !json.isRawJSON(value) &&
  !(value instanceof Number || value instanceof String || value instanceof Boolean);

/** Whether the whole text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
