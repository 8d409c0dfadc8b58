// Shows the exact bytes of a body: as text with its invisible parts named, or as a hex dump.
import { html } from 'hono/html';
import type { Html } from '../layout.ts';
import { linkTo, rawText, type View } from './view.ts';

/** Returns undefined for bytes that are not UTF-8. A letter cut off at the end is accepted. */
function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

const WIDTH = 16;

/** Formats offset, bytes and letters like hexdump -C. */
export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += WIDTH) {
    const line = bytes.subarray(at, at + WIDTH);
    const hex = Array.from(line, byte => byte.toString(16).padStart(2, '0'));
    const columns = `${hex.slice(0, 8).join(' ')}  ${hex.slice(8).join(' ')}`.padEnd(WIDTH * 3);
    const letters = Array.from(line, byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${columns}  |${letters}|`);
  }
  return lines.join('\n');
}

/** Names the parts that a reader does not see, but a signature covers. */
export function hidden(text: string): string[] {
  const found = [
    text.startsWith('\ufeff') && 'begins with a byte order mark',
    /[\r\n]$/.test(text) && 'ends with a line break',
    /^\s/.test(text) && 'begins with white space',
    text.includes('\r\n') && 'has CR LF line ends',
    /[^\P{Cc}\t\r\n]/u.test(text) && 'has control letters',
  ];
  return found.filter(one => one !== false);
}

/** Shows a body on its page. It was `length` bytes long on arrival. */
export function bodyOf(view: View, bytes: Uint8Array, length: number): Html {
  if (length === 0) return html`<p class="dim">It has no body.</p>`;
  const text = utf8(bytes);
  const isHex = text === undefined || view.url.searchParams.get('body') === 'hex';
  const notes = text === undefined ? ['is no UTF-8'] : hidden(text);
  return html`<p class="dim">${length.toLocaleString('en')} bytes${notes.length > 0 ? `; it ${notes.join(', ')}` : ''}.${
    bytes.length < length ? ` The first ${bytes.length.toLocaleString('en')} are kept.` : ''
  } ${text === undefined ? '' : html`<a href="${linkTo(view, { body: isHex ? undefined : 'hex' })}" id="body-as">${isHex ? 'As text' : 'As a hex dump'}</a>`}</p>
  ${isHex ? rawText('body', 'Body, as a hex dump', hexDump(bytes), 'dump') : rawText('body', 'Body, as it arrived', text)}`;
}

/** Indents JSON for people, and returns any other text unchanged. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
