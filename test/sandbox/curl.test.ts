// A call as a command: a shell must make of it the very bytes that were sent.
import { execFileSync } from 'node:child_process';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it } from 'vitest';
import { curlOf, curlOfCall } from '../../src/sandbox/api/curl.ts';
import type { Call } from '../../src/sandbox/events.ts';

/** Stands in for curl: writes its words and its input, each ended by a NUL, in hex. */
const STUB = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; case "$*" in *@-*) cat;; esac; }\n`;

/** What a POSIX shell makes of the command. */
function words(command: string): { words: string[]; input: Buffer } {
  const out = execFileSync('sh', ['-c', STUB + command], { input: '', encoding: 'buffer' });
  const end = command.includes('--data-binary @-') ? out.indexOf('@-\0') + 3 : out.length;
  return { words: out.subarray(0, end).toString('utf8').split('\0').slice(0, -1), input: out.subarray(end) };
}

const url = 'http://127.0.0.1:1/x';
const TYPE = ['content-type', 'application/json'] as const;
const call = { method: 'POST', url, headers: [TYPE], body: new TextEncoder().encode('{}') };
const type = ['-H', 'content-type: application/json'];
const own = ['host', 'content-length', 'transfer-encoding', 'connection', 'accept-encoding'];

it.each([
  ['quotes', `{"a":"it's \\"so\\" '' ' \\\\"}`],
  ['what a shell would expand', '$HOME `id` $(id) !! * ~ \\n %s %d'],
  ['line breaks', 'a\r\nb\n'],
  ['a leading at sign', '@/etc/passwd'],
  ['letters beyond ASCII', '{"name":"Zoë 東京 🙂"}'],
  ['a byte order mark', '\ufeff{}'],
])('a command keeps a body with %s', (_, text) => {
  const { words: sent } = words(curlOf({ ...call, body: new TextEncoder().encode(text) }));
  expect(sent).toEqual(['-i', '-X', 'POST', url, ...type, '--data-raw', text]);
});

it.each([
  ['NUL', [0x7b, 0, 0x7d]],
  ['no UTF-8', [0xff, 0xfe, 0x25, 0x5c, 0x27, 0x0a]],
  ['a digit after a byte', [0, 0x31, 7, 0x38]],
])('a command pipes bytes with %s', (_, bytes) => {
  const { words: sent, input } = words(curlOf({ ...call, body: Uint8Array.from(bytes) }));
  expect([sent.slice(-2), [...input]]).toEqual([['--data-binary', '@-'], bytes]);
});

it.each<[string, Partial<Parameters<typeof curlOf>[0]>, string[]]>([
  ['no type', { headers: [['signature', '']] }, ['-X', 'POST', url, '-H', 'signature;', '-H', 'content-type:']],
  [
    'headers that curl sets',
    { headers: [...own.map(name => [name, 'x'] as const), TYPE] },
    ['-X', 'POST', url, ...type],
  ],
  ['method DELETE', { method: 'DELETE' }, ['-X', 'DELETE', url, ...type]],
  ['method HEAD', { method: 'HEAD' }, ['--head', url, ...type]],
  ['method GET', { method: 'GET' }, [url, ...type]],
  ['brackets', { method: 'GET', url: "http://[::1]/a'b?c={d}" }, ['--globoff', "http://[::1]/a'b?c={d}", ...type]],
])('a command has the words of a call with %s', (_, changes, expected) => {
  expect(words(curlOf({ ...call, ...changes })).words).toEqual(['-i', ...expected, '--data-raw', '{}']);
  const bare = words(curlOf({ ...call, ...changes, body: new Uint8Array() })).words;
  expect(bare).toEqual(['-i', ...expected.filter((word, at) => ![word, expected[at + 1]].includes('content-type:'))]);
});

it('a command has the key only of a call that had it, and needs the whole body', { tags: 'long' }, async () => {
  const sandbox = new Sandbox({ apiKey: "it's-a-key" });
  const send = async (key: string, body = '{}') => {
    const headers = { authorization: `Bearer ${key}`, signature: '00', cookie: 'session=1' };
    await sandbox.fetch('http://sandbox.localhost/api/v1/payments', { method: 'POST', headers, body });
    return curlOfCall(sandbox.calls.at(-1) as Call, 'http://sandbox.localhost', "it's-a-key");
  };
  const sent = words((await send("it's-a-key")) ?? '').words;
  expect(sent).toEqual(expect.arrayContaining(["authorization: Bearer it's-a-key", 'cookie: ••••••••']));
  expect(await send('sk_live_1')).toContain('authorization: Bearer <the key of that call>');
  expect(await send('k', 'x'.repeat(65_537))).toBeUndefined();
});
