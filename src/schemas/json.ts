// JSON as the SDK needs it.

// Missing in TypeScript's library.
export const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/** Checks for an object other than a list. */
export const isJsonMap = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
