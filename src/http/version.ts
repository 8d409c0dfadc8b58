// The version of this package, sent in each call's User-Agent. A test compares it with package.json.
export const VERSION = '0.1.0';
