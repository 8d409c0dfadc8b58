// A call as a command: a shell must make of it the very bytes that were sent.
import { execFileSync } from 'node:child_process';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { curlOf, curlOfCall } from '../../src/sandbox/api/curl.ts';
import type { Call } from '../../src/sandbox/events.ts';

/** Stands in for curl: writes its words and its input, each ended by a NUL, in hex. */
const STUB = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; case "$*" in *@-*) cat;; esac; }\n`;

/** What a POSIX shell makes of the command. */
function words(command: string): { words: string[]; input: Buffer } {
  const out = execFileSync('sh', ['-c', STUB + command], { input: '', encoding: 'buffer' });
  const isPiped = command.includes('--data-binary @-');
  const end = isPiped ? out.indexOf('@-\0') + 3 : out.length;
  return { words: out.subarray(0, end).toString('utf8').split('\0').slice(0, -1), input: out.subarray(end) };
}

const sentence = new TextEncoder().encode('{"a":1}');
const at = { method: 'POST', url: 'http://127.0.0.1:1/x', headers: [['content-type', 'application/json']] } as const;

describe('a call as curl', () => {
  it.each([
    ['quotes', `{"a":"it's \\"so\\" '' ' \\\\"}`],
    ['what a shell would expand', '$HOME `id` $(id) !! * ~ \\n %s %d'],
    ['line breaks', 'a\r\nb\n'],
    ['a leading at sign', '@/etc/passwd'],
    ['letters beyond ASCII', '{"name":"Zoë 東京 🙂"}'],
    ['a byte order mark', '\ufeff{}'],
  ])('keeps a body with %s', (_, text) => {
    const { words: sent } = words(curlOf({ ...at, body: new TextEncoder().encode(text) }));
    expect(sent.slice(-2)).toEqual(['--data-raw', text]);
    expect(curlOf({ ...at, body: new TextEncoder().encode(text) })).toMatch(/^curl -i /);
  });

  it.each([
    ['NUL', [0x7b, 0, 0x7d]],
    ['no UTF-8', [0xff, 0xfe, 0x25, 0x5c, 0x27, 0x0a]],
  ])('pipes bytes with %s', (_, bytes) => {
    const { words: sent, input } = words(curlOf({ ...at, body: Uint8Array.from(bytes) }));
    expect(sent.slice(-2)).toEqual(['--data-binary', '@-']);
    expect([...input]).toEqual(bytes);
  });

  it('names no type that the call did not have, and keeps a header that is empty', () => {
    const { words: sent } = words(curlOf({ ...at, headers: [['signature', '']], body: sentence }));
    expect(sent).toEqual([
      '-i',
      '-X',
      'POST',
      at.url,
      '-H',
      'signature;',
      '-H',
      'content-type:',
      '--data-raw',
      '{"a":1}',
    ]);
  });

  it('takes an address with brackets and quotes as it is', () => {
    const url = "http://[::1]:4010/a'b?c={d}";
    expect(words(curlOf({ method: 'GET', url, headers: [], body: new Uint8Array() })).words).toEqual([
      '-i',
      '--globoff',
      url,
    ]);
  });

  it('leaves out what curl makes itself, and what would make the answer unreadable', () => {
    const own = ['host', 'content-length', 'transfer-encoding', 'connection', 'accept-encoding'];
    const headers = [...own.map(name => [name, 'x'] as const), ['content-type', 'text/plain'] as const];
    expect(words(curlOf({ ...at, headers, body: sentence })).words).toEqual([
      ...['-i', '-X', 'POST', at.url, '-H', 'content-type: text/plain', '--data-raw', '{"a":1}'],
    ]);
  });

  it.each([
    ['GET', []],
    ['HEAD', ['--head']],
    ['DELETE', ['-X', 'DELETE']],
  ])('of a %s without a body has no word too many', (method, option) => {
    const command = curlOf({ method, url: at.url, headers: [['accept', '*/*']], body: new Uint8Array() });
    expect(words(command).words).toEqual(['-i', ...option, at.url, '-H', 'accept: */*']);
    expect(command.split(' \\\n')[0]).not.toMatch(/ {2}| $/);
  });

  it('names the type once, wherever it stands among the headers', () => {
    const headers = [['a', '1'], ...at.headers, ['z', '2']] as const;
    const { words: sent } = words(curlOf({ ...at, headers, body: sentence }));
    expect(sent.filter(word => word.startsWith('content-type'))).toEqual(['content-type: application/json']);
  });

  it('pipes a byte that is a digit after one that is none', () => {
    expect([...words(curlOf({ ...at, body: Uint8Array.from([0, 0x31, 7, 0x38]) })).input]).toEqual([0, 0x31, 7, 0x38]);
  });

  it('fills the key in only for a call that had it', { tags: 'long' }, async () => {
    const sandbox = new Sandbox({ apiKey: "it's-a-key" });
    const send = async (key: string) => {
      const headers = { authorization: `Bearer ${key}`, signature: '00', cookie: 'session=1' };
      await sandbox.fetch('http://sandbox.localhost/api/v1/payments', { method: 'POST', headers, body: '{}' });
      return words(curlOfCall(sandbox.calls.at(-1) as Call, 'http://sandbox.localhost', "it's-a-key") ?? '').words;
    };
    expect(await send("it's-a-key")).toContain("authorization: Bearer it's-a-key");
    expect(await send("it's-a-key")).toContain('cookie: ••••••••');
    expect(await send('sk_live_1')).toContain('authorization: Bearer <the key of that call>');
  });

  it('is none for a body that was not kept whole', async () => {
    const sandbox = new Sandbox();
    const body = 'x'.repeat(65_537);
    await sandbox.fetch('http://sandbox.localhost/api/v1/payments', { method: 'POST', body });
    expect(curlOfCall(sandbox.calls[0] as Call, 'http://sandbox.localhost', 'k')).toBeUndefined();
  });
});
