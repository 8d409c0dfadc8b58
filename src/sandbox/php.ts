// JSON and dates as the gateway's PHP writes them, so that merchants meet them in tests first.

/** As `json_encode`: slashes and everything beyond ASCII are escaped. */
export const toPhpJson = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A PHP `DateTime` in UTC, as its JSON. */
export const toPhpDate = (milliseconds: number) => ({
  date: `${new Date(milliseconds).toISOString().slice(0, -1).replace('T', ' ')}000`,
  timezone_type: 3,
  timezone: 'UTC',
});
