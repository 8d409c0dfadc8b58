// Callers that send what no HTTP client would, and tell what they were answered.
import { connect } from 'node:net';

/** Statuses without those of 1xx; then `closed`, once the server has closed, or `silent`, if too little came in time. */
export type Outcome = (number | 'closed' | 'silent')[];

/** Milliseconds: whatever needs no deadline has come by then. */
export const LONGEST_WAIT = 20_000;
/** Milliseconds in which what was written arrives. */
export const ON_ITS_WAY = 20;

/** The real clock, also in tests that set another. */
const { setTimeout, clearTimeout } = globalThis;

export interface RawRequest {
  /** Each character is one byte. */
  bytes: string;
  /** Ends the sending (`fin`), or breaks the connection off (`rst`), once the bytes are written. */
  end?: 'fin' | 'rst' | undefined;
}

/** Sends the bytes over a connection of their own, and waits for the first answer, or until the server closes. */
export function sendRaw(port: number, { bytes, end }: RawRequest, until: 'answer' | 'closed'): Promise<Outcome> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    const settle = (...last: ('closed' | 'silent')[]) => {
      clearTimeout(late);
      socket.destroy();
      const statuses = [...received.matchAll(/HTTP\/1\.[01] ([2-5]\d\d)/g)].map(([, status]) => Number(status));
      resolve([...statuses, ...last]);
    };
    const late = setTimeout(settle, LONGEST_WAIT, 'silent');
    socket.on('data', chunk => {
      received += chunk.toString('latin1');
      if (until === 'answer' && /HTTP\/1\.[01] [2-5]\d\d/.test(received)) settle();
    });
    // A close follows.
    socket.on('error', () => {});
    socket.on('close', () => settle('closed'));
    socket.write(bytes, 'latin1');
    if (end === 'fin') socket.end();
    if (end === 'rst') setTimeout(() => socket.resetAndDestroy(), ON_ITS_WAY);
  });
}
