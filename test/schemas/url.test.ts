import { describe, expect, it } from 'vitest';
import { isHttpUrl, isLoopback } from '../../src/schemas/url.ts';

describe('an http(s) URL', () => {
  it.each(['https://shop.example', 'HTTPS://shop.example/a?b#c', 'http://127.0.0.1:1'])('is %s', url => {
    expect(isHttpUrl(url)).toBe(true);
  });

  it.each([[['https://shop.example']], new URL('https://shop.example'), null, undefined, 7, 'xhttps://shop.example'])(
    'is not %o',
    value => {
      expect(isHttpUrl(value)).toBe(false);
    },
  );
});

describe('this machine', () => {
  // RFC 1122, section 3.2.1.3; RFC 6761, section 6.3. As `new URL(…).hostname` writes them.
  it.each(['127.0.0.1', '127.255.100.254', '[::1]', 'localhost', 'sandbox.localhost', 'a.b.localhost'])(
    'is %s',
    name => {
      expect(new URL(`http://${name}`).hostname).toBe(name);
      expect(isLoopback(name)).toBe(true);
    },
  );

  it.each(['128.0.0.1', '10.127.0.1', '[::2]', '[fe80::1]', 'notlocalhost', 'localhost.example', '127.0.0.1.example'])(
    'is not %s',
    name => {
      expect(isLoopback(name)).toBe(false);
    },
  );
});
