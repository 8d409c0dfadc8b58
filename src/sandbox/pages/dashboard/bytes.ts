// Shows a body as text, with its invisible parts named.
import { html } from 'hono/html';
import type { Html } from '../layout.ts';
import { rawText } from './view.ts';

/** Names the parts that a reader does not see, but a signature covers. */
function hidden(text: string): string[] {
  const found = [
    text.includes('\ufffd') && 'is no UTF-8',
    text.startsWith('\ufeff') && 'begins with a byte order mark',
    /[\r\n]$/.test(text) && 'ends with a line break',
    /^\s/.test(text) && 'begins with white space',
    text.includes('\r\n') && 'has CR LF line ends',
    /[^\P{Cc}\t\r\n]/u.test(text) && 'has control letters',
  ];
  return found.filter(one => one !== false);
}

/** Shows a body on its page. It was `length` bytes long on arrival. */
export function bodyOf(bytes: Uint8Array, length: number): Html {
  if (length === 0) return html`<p class="dim">It has no body.</p>`;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  const notes = hidden(text);
  return html`<p class="dim">${length.toLocaleString('en')} bytes${notes.length > 0 && `; it ${notes.join(', ')}`}.${
    bytes.length < length && ` The first ${bytes.length.toLocaleString('en')} are kept.`
  }</p>
  ${rawText('body', 'Body, as it arrived', text)}`;
}

/** Indents JSON for people, and returns any other text unchanged. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
