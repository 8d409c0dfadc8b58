// Hostile requests over HTTP/2, a caller that sends them, and their answers.
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { type Answer, callback } from './hostile.ts';
import { LONGEST_WAIT, ON_ITS_WAY, type Outcome } from './raw-http.ts';

/** The real clock, also in tests that set another. */
const { setTimeout, clearTimeout } = globalThis;

interface Http2Request {
  headers: OutgoingHttpHeaders;
  body?: string | undefined;
  /** What follows the body: nothing, a reset of the stream, or the end of the connection; by default its regular end. */
  end?: 'nothing' | 'reset' | 'gone' | undefined;
}

/** A connection without TLS, for `sendHttp2`. */
export function openHttp2(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  // Its streams tell.
  session.on('error', () => {});
  return session;
}

/** Sends one request, and waits for its answer, or until its stream is closed. */
export function sendHttp2(
  session: ClientHttp2Session,
  { headers, body, end }: Http2Request,
  until: 'answer' | 'closed',
): Promise<Outcome> {
  return new Promise(resolve => {
    const stream = session.request({ ':method': 'POST', ...headers }, { endStream: false });
    const outcome: Outcome = [];
    const settle = (...last: Outcome) => {
      clearTimeout(late);
      resolve([...outcome, ...last]);
    };
    const late = setTimeout(settle, LONGEST_WAIT, 'silent');
    stream.on('response', ({ ':status': status }) => {
      outcome.push(Number(status));
      if (until === 'answer') settle();
    });
    // A close follows.
    stream.on('error', () => {});
    stream.on('close', () => settle('closed'));
    stream.resume();
    if (body) stream.write(body, 'latin1');
    if (!end) stream.end();
    if (end === 'reset') setTimeout(() => stream.close(), ON_ITS_WAY);
    if (end === 'gone') setTimeout(() => session.destroy(), ON_ITS_WAY);
  });
}

export interface Http2Hostile extends Http2Request {
  name: string;
  answer: Answer;
}

const http2Header = (name: string, value: string, answer: Answer = 200): Http2Hostile => ({
  name: `${name} ${value}`,
  headers: { [name]: value },
  body: callback,
  answer,
});

export const HOSTILE_HTTP2: Http2Hostile[] = [
  { name: 'pseudo headers only', headers: {}, answer: 400 },
  { name: 'a callback without a length', headers: {}, body: callback, answer: 200 },
  { name: 'CONNECT', headers: { ':method': 'CONNECT', ':authority': 'shop:443' }, answer: 405 },
  ...['GET', 'BREW', 'post'].map(name => http2Header(':method', name, 405)),
  ...['[::1', 'x:99999', '%00'].map(name => http2Header(':authority', name)),
  ...['//evil', '/%', '/%ff%fe', '/#x', '/\xff'].map(path => http2Header(':path', path)),
  http2Header(':scheme', 'ftp'),
  http2Header('host', 'a@c', 'refusedByParser'),
  http2Header('expect', 'x', 417),
  http2Header('content-type', ';;=/"\xff'),
  http2Header('x-name', '\xe9\xff'),
  http2Header('content-length', '3', 'refusedByParser'),
  { name: 'not JSON', headers: {}, body: 'nope', answer: 400 },
  { name: 'a GET without end', headers: { ':method': 'GET' }, body: 'half', end: 'nothing', answer: [405, 'closed'] },
  { name: 'above the limit', headers: {}, body: 'x'.repeat(300_000), answer: [413, 'closed'] },
  {
    name: 'above the limit, without end',
    headers: {},
    body: 'x'.repeat(300_000),
    end: 'nothing',
    answer: [413, 'closed'],
  },
  {
    name: 'said to be above the limit',
    headers: { 'content-length': '300000' },
    body: 'half',
    end: 'nothing',
    answer: [413, 'closed'],
  },
  { name: 'half a body, then a reset', headers: {}, body: 'half', end: 'reset', answer: 'gone' },
  { name: 'half a body, then gone', headers: {}, body: 'half', end: 'gone', answer: 'gone' },
  { name: 'a callback, then a reset', headers: {}, body: callback, end: 'reset', answer: 'gone' },
  { name: 'no body, then gone', headers: {}, end: 'gone', answer: 'gone' },
];
