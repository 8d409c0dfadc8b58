// Posts one callback: limits its time, and keeps the start of the merchant's answer.
import { lookup } from 'node:dns';
import { once } from 'node:events';
import http, { type RequestOptions } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { withSignal, withTimeout } from '../../deadline.ts';
import { isLoopback } from '../../schemas/url.ts';
import type { SandboxSettings } from '../sandbox-options.ts';
import type { Delivery } from './delivery.ts';

type Outcome = Pick<Delivery, 'status' | 'answer' | 'error'>;

const LONGEST_POST = 10_000;

/** A test must not post to a shop's real address. Repeating such a post is pointless. */
export const NOT_LOOPBACK =
  'not posted: the address is not on loopback. To post it elsewhere: --forward-to, or new Sandbox({ forwardTo }).';

/** Posts a callback. The promise never rejects. @param life ends the post when the sandbox is reset */
export async function post({ url, body }: Delivery, settings: SandboxSettings, life: AbortSignal): Promise<Outcome> {
  const { fetch: double, forwardTo } = settings;
  const address = new URL(url);
  const { hostname, host, username, password } = address;
  const isWanted = host === URL.parse(forwardTo ?? '')?.host;
  if (!double && !isWanted && !isLoopback(hostname)) return { error: NOT_LOOPBACK };
  // Fetch refuses an address with credentials.
  Object.assign(address, { username: '', password: '' });
  const authorization = username && basicAuth(username, password);
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    body,
    redirect: 'manual',
    signal: AbortSignal.any([life, AbortSignal.timeout(LONGEST_POST)]),
  } as const;
  const send = double ?? (hostname.endsWith('.localhost') ? postToLoopback : fetch);
  try {
    // A fetch may ignore its signal.
    const posting = withSignal(send(username ? address.href : url, init), life);
    const response = await withTimeout(posting, LONGEST_POST, `not answered within ${LONGEST_POST} ms`);
    const { status } = response;
    // The status is enough.
    const answer = await withTimeout(response.text(), 1_000, () => '').catch(() => '');
    return answer ? { status, answer: answer.slice(0, 4_096) } : { status };
  } catch (error) {
    return { error: describe(error) };
  }
}

/** Posts to a name below localhost, which not every resolver knows. Fetch would replace the Host header. */
async function postToLoopback(url: string, { body, ...init }: RequestOptions & { body: string }) {
  const { request } = url.startsWith('https:') ? https : http;
  const options: RequestOptions = { ...init, lookup: (_, how, found) => lookup('localhost', how, found) };
  const [response] = await once(request(url, options).end(body), 'response');
  return { status: response.statusCode, text: () => text(response) };
}

const basicAuth = (...credentials: string[]) =>
  `Basic ${Buffer.from(credentials.map(decodeURIComponent).join(':')).toString('base64')}`;

/** Describes the cause of a failed fetch, or another error. */
function describe(error: unknown): string {
  const cause = Object(error).cause ?? error;
  return cause?.message || String(cause?.code ?? cause);
}
