// Checks of addresses: http(s) URLs, and hosts that never leave this machine.
import * as z from 'zod';

export const isHttpUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/\S+$/i.test(value) && URL.canParse(value);

const HTTP_URL = { error: 'must be an absolute http(s) URL, as a string' };

export const httpUrl = z.string(HTTP_URL).refine(isHttpUrl, HTTP_URL);

/** Checks whether the `hostname` of a URL is this machine. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?localhost)$/.test(hostname);
