// Writes a call as a command for a POSIX shell that sends the same bytes again.
import type { Call } from '../events.ts';

interface Sent {
  method: string;
  url: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
}

/** Headers that curl sets itself, and one that would make the answer unreadable. */
const MADE_BY_CURL = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'accept-encoding']);

/** Quotes any text as one word. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf({ method, url, headers, body }: Sent): string {
  const text = textOf(body);
  const hasType = headers.some(([name]) => name === 'content-type');
  const parts = [
    'curl -i',
    method === 'GET' ? '' : method === 'HEAD' ? '--head' : `-X ${method}`,
    // In curl, brackets and braces are patterns.
    /[[\]{}]/.test(url) ? '--globoff' : '',
    quoted(url),
  ].filter(Boolean);
  const lines = [
    parts.join(' '),
    ...headers
      .filter(([name]) => !MADE_BY_CURL.has(name))
      .map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    // Otherwise curl would set its own type.
    ...(body.length > 0 && !hasType ? ["-H 'content-type:'"] : []),
    ...(body.length === 0 ? [] : [text === undefined ? '--data-binary @-' : `--data-raw ${quoted(text)}`]),
  ];
  const command = lines.join(' \\\n  ');
  return text === undefined ? `printf ${quoted(octal(body))} | ${command}` : command;
}

/**
 * Returns a command that repeats a call. Undefined if the log does not have its whole body.
 *
 * @param apiKey filled in only if the call carried it
 */
export function curlOfCall(call: Call, origin: string, apiKey: string): string | undefined {
  const { method, path, headers, body, bodyLength, hasRightKey } = call;
  if (bodyLength > body.length) return undefined;
  const key = hasRightKey ? apiKey : '<the key of that call>';
  return curlOf({
    method,
    url: origin + path,
    headers: headers.map(([name, value]) => [name, name === 'authorization' ? value.replace(/•+$/, () => key) : value]),
    body,
  });
}

/** Returns undefined for bytes that a shell's word cannot carry. */
function textOf(body: Uint8Array): string | undefined {
  if (body.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Escapes bytes for printf in every shell. */
const octal = (body: Uint8Array): string => Array.from(body, byte => `\\${byte.toString(8).padStart(3, '0')}`).join('');
