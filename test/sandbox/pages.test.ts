import { describe, expect, it } from 'vitest';
import { HERE, openPages as open } from '../support/pages.ts';

describe('what merchants sent', () => {
  const ATTACK = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&lt;`;
  const url = `https://shop.example/${encodeURIComponent('x')}?q="'><script>alert(1)</script>`;
  const pages = async (request: object) => {
    const { sandbox, create, get, post } = open();
    const id = await create(request);
    const seen = [(await get(`/pay/${id}`)).text];
    await post(`/pay/${id}`, { act: 'cvv' });
    await sandbox.fail(id, { reason: ATTACK, force: true });
    await sandbox.idle();
    for (const path of ['/', `/payments/${id}`, `/pay/${id}`]) seen.push((await get(path)).text);
    return seen;
  };

  it.each([
    ['reference', ATTACK],
    ['description', ATTACK],
    ['externalApiId', ATTACK],
    ['webhookUrl', url.replaceAll(' ', '')],
    ['returnUrl', url.replaceAll(' ', '')],
    ['customer', { firstName: ATTACK, email: ATTACK }],
    ['billingAddress', { city: ATTACK, countryCode: 'US' }],
    ['additionalParameters', { destination_wallet: ATTACK, [ATTACK]: ATTACK }],
    ['browser', { userAgent: ATTACK }],
  ])('in %s stays text on every page', async (field, value) => {
    for (const paymentMethod of ['CARD', 'PAYID', 'USER_CHOICE']) {
      for (const page of await pages({ paymentMethod, [field]: value })) {
        expect(page).not.toMatch(/<script>alert|<img/);
      }
    }
  });

  it('in a path, a page or an id stays text', async () => {
    const { get, sandbox } = open();
    const raw = await sandbox.fetch(`${HERE}/pay/<script>alert(1)</script>`, {
      headers: { accept: 'text/html' },
    });
    expect(await raw.text()).not.toContain('<script>alert');
    await sandbox.fetch(`${HERE}/api/v1/payments/<script>alert(1)</script>`);
    expect((await get('/')).text).not.toContain('<script>alert');
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
      expect(text).not.toMatch(/<[^>]* (style|on\w+)=/);
      const fetched = [...text.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g)].map(
        ([, address]) => address,
      );
      expect(fetched.filter(address => !address?.startsWith('/') && address !== 'data:,')).toEqual([]);
    }
  });
});

describe('a page from elsewhere', () => {
  it.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'same-origin', origin: HERE }, 303],
    [{ origin: 'http://sandbox.localhost', host: 'sandbox.localhost' }, 303],
    [{}, 303],
  ])('with %j is answered %d', async (headers, status) => {
    const { sandbox, create, post } = open();
    const id = await create();
    expect((await post(`/payments/${id}`, { move: 'complete' }, headers as never)).status).toBe(status);
    expect(sandbox.payments[0]?.paymentStatus).toBe(status === 403 ? 'PENDING' : 'COMPLETED');
  });
});
