// Checks of addresses: http(s) URLs, and hosts that never leave this machine.
import * as z from 'zod';

export const isHttpUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/\S+$/i.test(value) && URL.canParse(value);

export const textThat = (isRight: (text: string) => boolean, error: string) => z.string(error).refine(isRight, error);

export const httpUrl = textThat(isHttpUrl, 'must be an absolute http(s) URL, as a string');

export const isLoopback = (hostname: string) => /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?localhost)$/.test(hostname);
