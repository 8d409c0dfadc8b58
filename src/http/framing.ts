// Where an answer ends among the bytes that arrived, as HTTP/1.1 frames it (RFC 9112, sections 2.1 and 6).
import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';

const LINE_END = '\r\n';
const HEADERS_END = '\r\n\r\n';
/** Only as the last of its codings: else the end of the connection ends the answer. */
const CHUNKED = /(?:^|,)\s*chunked\s*$/i;
/** With the first digit of the status. */
const STATUS_LINE = /^HTTP\/\d\.\d (\d)\d\d/;
/** Characters. */
const LONGEST_STATUS_LINE = 16;

/** What comes behind the headers of the answer, whatever they say; interim answers (1xx) come before it. */
export function behindHeaders(raw: Buffer): Buffer {
  for (let at = 0; ; ) {
    // Node takes no notice of line ends before an answer.
    while (raw[at] === 13 || raw[at] === 10) at += 1;
    const end = raw.indexOf(HEADERS_END, at);
    const [, kind] = STATUS_LINE.exec(raw.toString('latin1', at, at + LONGEST_STATUS_LINE)) ?? [];
    // A mock's bytes, or none that Node has taken for an answer.
    if (kind === undefined || end < 0) return raw.subarray(raw.length);
    at = end + HEADERS_END.length;
    if (kind !== '1') return raw.subarray(at);
  }
}

/** What comes behind the answer itself: of a gateway that counts its bytes wrongly, or answers twice. */
export function behindAnswer(raw: Buffer, headers: IncomingHttpHeaders): Buffer {
  const body = behindHeaders(raw);
  if (isChunked(headers)) return body.subarray(chunksEnd(body));
  // Without a length it goes on to the end of the connection.
  const { 'content-length': length = body.length } = headers;
  return body.subarray(Number(length));
}

/** Whether only the end of the connection ends the answer, so that one that breaks off ends like a whole one. */
export const isEndedByClose = (headers: IncomingHttpHeaders): boolean =>
  !isChunked(headers) && headers['content-length'] === undefined;

const isChunked = (headers: IncomingHttpHeaders): boolean => CHUNKED.test(String(headers['transfer-encoding']));

function chunksEnd(body: Buffer): number {
  for (let at = 0; ; ) {
    const line = body.indexOf(LINE_END, at);
    // Nothing, where no line ends.
    const size = Number.parseInt(body.toString('latin1', at, line), 16);
    if (!(size >= 0)) return body.length;
    if (size === 0) {
      // Trailers may follow.
      const end = body.indexOf(HEADERS_END, line);
      return end < 0 ? body.length : end + HEADERS_END.length;
    }
    at = line + LINE_END.length + size + LINE_END.length;
  }
}
