import { describe, expect, it } from 'vitest';
import { HERE, openPages as open } from '../support/pages.ts';

describe('what merchants sent', () => {
  const ATTACK = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&lt;`;
  const url = `https://shop.example/${encodeURIComponent('x')}?q="'><script>alert(1)</script>`.replaceAll(' ', '');
  const request = {
    reference: ATTACK,
    description: ATTACK,
    externalApiId: ATTACK,
    webhookUrl: url,
    returnUrl: url,
    customer: { firstName: ATTACK, email: ATTACK },
    billingAddress: { city: ATTACK, countryCode: 'US' },
    additionalParameters: { destination_wallet: ATTACK, [ATTACK]: ATTACK },
    browser: { userAgent: ATTACK },
  };

  it.each(['CARD', 'PAYID', 'USER_CHOICE'])('to pay by %s stays text on every page', async paymentMethod => {
    const { sandbox, create, get, post } = open({ fetch: async () => new Response(ATTACK) });
    const id = await create({ ...request, paymentMethod });
    const names = ['search', 'status', 'method', 'show', 'notice', 'test'];
    const query = new URLSearchParams(Object.fromEntries(names.map(name => [name, ATTACK])));
    const before = (await get(`/pay/${id}?${query}`)).text;
    await post(`/pay/${id}`, { act: 'cvv' });
    await sandbox.fail(id, { reason: ATTACK, force: true });
    await sandbox.idle();
    sandbox.faults.next('drop', { reference: ATTACK });
    const headers = { authorization: ATTACK, signature: ATTACK, 'x-other': ATTACK };
    await sandbox.fetch(`${HERE}/api/v1/payments`, { method: 'POST', body: ATTACK, headers });
    await sandbox.fetch(`${HERE}/api/v1/payments/x?${ATTACK}`);
    const calls = sandbox.calls.map(call => `/calls/${call.id}`);
    const paths = ['/', `/?${query}`, `/payments/${id}`, `/pay/${id}`, '/activity', `/activity?${query}`, ...calls];
    for (const path of [...paths, '/deliveries/1', '/faults', '/pay/<script>alert(1)</script>']) {
      for (const text of [before, (await get(path)).text]) {
        expect(text).not.toMatch(/<script>alert|<img/);
        expect(text.replace(/"[^"]*"/g, '""')).not.toMatch(/<[^>]* (style|on\w+)=/);
      }
    }
  });

  it('could not run if it did not: no script but ours, and nothing from outside', async () => {
    const { create, get } = open();
    const id = await create();
    for (const path of ['/', `/pay/${id}`, `/payments/${id}`]) {
      const { headers, text } = await get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
      const local = 'http://localhost:* http://127.0.0.1:*';
      const shop = path.startsWith('/pay/') ? ` https://shop.example ${local}` : '';
      expect(policy).toContain(`; form-action 'self'${shop};`);
      expect(text).not.toMatch(/<[^>]* (style|on\w+)=/);
      const fetched = [...text.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g)].map(
        ([, address]) => address,
      );
      expect(fetched.filter(address => !address?.startsWith('/') && address !== 'data:,')).toEqual([]);
    }
  });
});

it.each([
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'null' }, 403],
  [{ 'sec-fetch-site': 'same-origin', origin: HERE }, 303],
  [{ origin: 'http://sandbox.localhost', host: 'sandbox.localhost' }, 303],
  [{}, 303],
])('a page from elsewhere with %j is answered %d', async (headers, status) => {
  const { sandbox, create, post } = open();
  const id = await create();
  expect((await post(`/forms/POST/payments/${id}/moves`, { move: 'complete' }, headers as never)).status).toBe(status);
  expect(sandbox.payments[0]?.paymentStatus).toBe(status === 403 ? 'PENDING' : 'COMPLETED');
});
