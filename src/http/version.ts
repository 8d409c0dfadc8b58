// The version of this package, which every call names in its User-Agent. A test holds it to package.json.
export const VERSION = '0.1.0';
