// A fetch that plays a script of answers and keeps what was sent.
import type { Fetch, FetchInit } from '../../src/http/own-fetch.ts';

export interface Sent {
  url: string;
  method: string;
  headers: Headers;
  body: string;
  init: FetchInit;
}

/** One scripted answer: a response, something to throw, or a function of the call. */
export type Answer = Response | Error | ((init: FetchInit) => Response | Promise<Response>);

/** Plays the answers in order, and the last one for ever. */
export function wire(...answers: [Answer, ...Answer[]]): { fetch: Fetch; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch: Fetch = async (url, init) => {
    const body = init.body ? Buffer.from(init.body).toString() : '';
    sent.push({ url, method: init.method, headers: new Headers(init.headers), body, init });
    const answer = answers[Math.min(sent.length, answers.length) - 1] as Answer;
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? answer(init) : answer.clone();
  };
  return { fetch, sent };
}

export const json = (body: string, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });

/** What Node's fetch throws when the system reports an error. */
export const networkError = (code: string, syscall?: string): TypeError =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(`${syscall} ${code}`), { code, syscall }) });

/** What Node's fetch throws where the gateway's name is not found: nothing can have left. */
export const hostNotFound = (hostname = 'gateway.example'): TypeError => {
  const details = { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname };
  return new TypeError('fetch failed', {
    cause: Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), details),
  });
};
