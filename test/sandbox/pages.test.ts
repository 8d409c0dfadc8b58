import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { SCENARIOS } from '../../src/sandbox/scenarios.ts';
import { HERE, openPages as open } from '../support/pages.ts';

describe('scenarios', () => {
  it.each(Object.entries(SCENARIOS))('%s plays', async (name, { request, moves }) => {
    const { sandbox, post } = open();
    const { status, text } = await post(`/scenarios/${name}`, { to: 'https://shop.example/callbacks' });
    expect(status).toBe(200);
    const { payment, deliveries } = JSON.parse(text);
    expect(payment).toMatchObject({ ...request, reference: expect.stringContaining(name) });
    expect(payment.paymentStatus).not.toBe('PENDING');
    expect(deliveries.length).toBeGreaterThanOrEqual(moves.length);
    expect(deliveries).toEqual(sandbox.deliveries);
  });

  it.each([
    ['base64', { signatureEncoding: 'base64' as const }],
    ['the unwrapped shape', { shape: 'unwrapped' as const }],
    ['other keys', { apiKey: 'k', signKey: 's' }],
  ])('play on a terminal of %s', async (_, options) => {
    const { post } = open(options);
    expect((await post('/scenarios/deposit-completed', { to: 'http://127.0.0.1:1/' })).status).toBe(200);
  });

  it('meet no fault that is armed for the merchant, and go where they are told', async () => {
    const posted: string[] = [];
    const fetch = async (url: string) => {
      posted.push(url);
      return new Response();
    };
    const { sandbox, post } = open({ fetch, forwardTo: 'http://127.0.0.1:1/all' });
    sandbox.faults.next('commit-then-502');
    sandbox.faults.next('callback-lose');
    await post('/scenarios/callback-duplicated', { to: 'http://127.0.0.1:1/mine' });
    expect(posted).toEqual(['http://127.0.0.1:1/mine', 'http://127.0.0.1:1/mine']);
    await post('/scenarios/deposit-completed');
    expect(sandbox.faults.armed.map(({ fault }) => fault)).toEqual(['commit-then-502']);
  });

  it('post to no real shop, not even where another address takes all callbacks', async () => {
    const sandbox = new Sandbox({ forwardTo: 'http://127.0.0.1:1/all' });
    const body = new URLSearchParams({ to: 'https://shop.example/callbacks' });
    await sandbox.fetch(`${HERE}/scenarios/deposit-completed`, { method: 'POST', body });
    expect(sandbox.deliveries).toMatchObject([{ error: expect.stringContaining('not on loopback') }]);
  });

  it('need a name, and an address for their callbacks', async () => {
    const { post } = open();
    expect((await post('/scenarios/nope', { to: 'http://127.0.0.1:1/' })).status).toBe(422);
    const lost = await post('/scenarios/deposit-completed');
    expect([lost.status, lost.text]).toEqual([422, expect.stringContaining('--forward-to')]);
    const forwarding = open({ forwardTo: 'http://127.0.0.1:1/' });
    expect((await forwarding.post('/scenarios/deposit-completed')).status).toBe(200);
    expect((await post('/scenarios/deposit-completed', { to: 'ftp://x' })).text).toContain('The create was refused');
  });
});

describe('what merchants sent', () => {
  const ATTACK = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&lt;`;
  const url = `https://shop.example/${encodeURIComponent('x')}?q="'><script>alert(1)</script>`;
  const pages = async (request: object) => {
    const { sandbox, create, get, post } = open();
    const id = await create(request);
    const seen = [(await get(`/pay/${id}`)).text];
    await post(`/pay/${id}`, { act: 'decline', reason: 'cvv' });
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
    expect((await post('/scenarios/deposit-completed', { to: 'http://127.0.0.1:1/' }, headers as never)).status).toBe(
      status === 403 ? 403 : 200,
    );
  });
});
