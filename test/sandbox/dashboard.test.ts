// The dashboard without a browser: what its pages show, and what their forms do.
import { execFileSync } from 'node:child_process';
import type { SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { spanOf } from '../../src/sandbox/text/duration.ts';
import { OTHER_ID } from '../support/fixtures.ts';
import { asText, HERE, openPages } from '../support/pages.ts';
import { freePorts } from '../support/ports.ts';

function open(options: SandboxOptions<'onramp'> = {}) {
  const pages = openPages(options);
  /** A create as it leaves another library. */
  const send = (body: string | Uint8Array, headers: Record<string, string>) =>
    pages.sandbox.fetch(`${HERE}/api/v1/payments`, { method: 'POST', body: body as string, headers });
  return { ...pages, send };
}

const referencesOf = (page: string) =>
  [...page.matchAll(/<th scope="row"><a[^>]*><bdi>([^<]+)/g)].map(([, name]) => name);

describe('the list of payments', () => {
  it('shows each with its amount, its state and what became of its callback', async () => {
    const { sandbox, create, get } = open();
    const id = await create({ reference: 'order-7', amount: '1249.5' });
    await create({ reference: 'order-8', paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' });
    await sandbox.complete(id);
    await sandbox.idle();
    const { words, title } = await get('/');
    expect(title).toMatch(/^Payments \(2\) · /);
    expect(words).toMatch(/COMPLETED 1,249\.50 EUR order-7 Card 200/);
    expect(words).toMatch(/PENDING −25\.50 EUR order-8 SEPA withdrawal –/);
  });

  it('is searched and filtered by its address', async () => {
    const { sandbox, create, get } = open();
    const anna = await create({ reference: 'order-1', customer: { email: 'anna@example.com' } });
    await create({ reference: 'order-2', paymentMethod: 'PAYID', customer: { email: 'anna@example.com' } });
    await create({ reference: 'order-3' });
    await sandbox.cancel(anna);
    const of = async (query: string) => referencesOf((await get(`/?${query}`)).text);
    expect(await of('search=ANNA')).toEqual(['order-2', 'order-1']);
    expect(await of('search=anna&status=CANCELED')).toEqual(['order-1']);
    expect(await of('search=payid')).toEqual(['order-2']);
    expect(await of('search=nobody')).toEqual([]);
    const { text } = await get('/?search=anna&status=PENDING');
    expect(text).toContain('value="anna"');
    expect(text).toMatch(/<option +selected>PENDING/);
  });

  it('shows a hundred, the newest first, and more on request', { tags: 'long' }, async () => {
    const { create, get } = open();
    for (let count = 1; count <= 120; count++) await create({ reference: `order-${count}` });
    const { text, words } = await get('/?search=order');
    expect(referencesOf(text)).toEqual(Array.from({ length: 100 }, (_, at) => `order-${120 - at}`));
    expect(words).toContain('Show more of 120');
    expect(asText(text)).toContain('href="?search=order&limit=1000"');
    const all = await get('/?limit=1000');
    expect(referencesOf(all.text)).toHaveLength(120);
    expect(all.words).not.toContain('Show more');
    expect(referencesOf((await get('/?limit=x')).text)).toHaveLength(100);
  });

  it.each(['x', '0', '-1'])('shows the usual number for the limit %s', async limit => {
    const { create, get } = open();
    for (const reference of ['order-1', 'order-2']) await create({ reference });
    expect(referencesOf((await get(`/?limit=${limit}`)).text)).toEqual(['order-2', 'order-1']);
  });

  it('has one line for an order, with its attempts', async () => {
    const { sandbox, create, get } = open();
    const [first, paid] = [await create({ reference: 'order-1.1' }), await create({ reference: 'order-1.2' })];
    await create({ reference: 'other.1' });
    const last = await create({ reference: 'order-1.3' });
    await create({ reference: 'payout.1', paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' });
    await create({ reference: 'payout.2', paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' });
    await sandbox.fail(first);
    const { text } = await get('/');
    expect(referencesOf(text)).toEqual(['payout.2', 'payout.1', 'order-1', 'other.1']);
    expect(text).toContain(`id="row-${last}"`);
    const linked = [...text.matchAll(/href="\/payments\/([^"]+)" aria-label="(Attempt [^"]+)"/g)];
    expect(linked.map(([, id, label]) => [id, label])).toEqual([
      [first, 'Attempt 1 failed'],
      [paid, 'Attempt 2 pending'],
      [last, 'Attempt 3 pending'],
    ]);
    // The line is that of the attempt that paid first.
    for (const id of [paid, last]) await sandbox.complete(id);
    expect((await get('/')).text).toContain(`id="row-${paid}"`);
    expect(referencesOf((await get('/?status=FAILED')).text)).toEqual(['order-1.1']);
  });

  it("shows the reviews of the merchant's store, and says that it cannot read them", async () => {
    const reviews = [{ id: '', status: 'COMPLETED', reason: 'already_paid', since: new Date() }];
    const { create, get } = open({ reviews: async () => reviews });
    const id = await create({ reference: 'order-1.2' });
    await create({ reference: 'order-1.1' });
    expect((await get('/')).words).not.toContain('already_paid');
    Object.assign(reviews[0] ?? {}, { id });
    expect((await get('/')).words).toContain('review: already_paid');
    expect((await get(`/payments/${id}`)).words).toContain('A person must check it: already_paid.');
    const broken = open({ reviews: () => Promise.reject(new Error('no database')) });
    expect((await broken.get('/')).words).toContain('The reviews could not be read: Error: no database');
  });

  it('says what has been forgotten', async () => {
    const { sandbox, create, get } = open({ maxPayments: 2 });
    await sandbox.complete(await create());
    expect((await get('/')).words).not.toContain('The sandbox keeps 2 payments.');
    for (let count = 0; count < 2; count++) await sandbox.complete(await create());
    expect((await get('/')).words).toContain('The sandbox keeps 2 payments. The oldest final ones make way');
  });
});

describe('a move', () => {
  const movesOf = (id: string) => `/forms/POST/payments/${id}/moves`;
  const FAILED = 'FAILED';
  it.each<[form: Record<string, string>, status: string, errorMessage?: string]>([
    [{ move: 'complete' }, 'COMPLETED'],
    [{ move: 'authorize' }, 'AUTHORIZED'],
    [{ move: 'cancel' }, 'CANCELED'],
    [{ move: 'fail', amount: '' }, FAILED],
    [{ move: 'fail', reason: 'Account closed' }, FAILED, 'Account closed'],
  ])('by %j leads to %s, and back to the page that it was pressed on', async (form, paymentStatus, errorMessage) => {
    const { sandbox, create, post } = open();
    const id = await create({ reference: 'order-9' });
    const { status, location } = await post(movesOf(id), form, { referer: `${HERE}/?search=order` });
    expect([status, location]).toEqual([303, '/?search=order']);
    expect([sandbox.payments[0]?.paymentStatus, sandbox.payments[0]?.errorMessage]).toEqual([
      paymentStatus,
      errorMessage,
    ]);
  });

  it('takes another amount, and refuses what is no number', async () => {
    const { sandbox, create, post } = open();
    const id = await create();
    expect((await post(movesOf(id), { move: 'complete', amount: 'x' })).status).toBe(422);
    await post(movesOf(id), { move: 'complete', amount: '5.5' });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED', amount: 5.5 });
  });

  it('to the state that it is in already posts no callback, and the timeline says so', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create({ reference: 'order-9' });
    await sandbox.complete(id);
    await post(movesOf(id), { move: 'complete', force: 'yes' });
    expect((await get(`/payments/${id}`)).words).toContain('Its state did not change, so no callback was posted.');
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(1);
  });

  it('of what is final goes by force, and the page says so', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create();
    expect((await get(`/payments/${id}`)).words).not.toContain('by force');
    await sandbox.cancel(id);
    const refused = await post(movesOf(id), { move: 'complete' });
    expect(refused.status).toBe(409);
    expect(refused.words).toContain('is CANCELED, which is final');
    const { text, words } = await get(`/payments/${id}`);
    expect(words).toContain('CANCELED is final: the gateway makes no more moves. These go by force');
    expect(text).toContain('<input type="hidden" name="force" value="yes">');
    await post(movesOf(id), { move: 'complete', force: 'yes' });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
    expect((await post(movesOf(id), { move: 'explode' })).status).toBe(422);
    expect((await post(movesOf(OTHER_ID), { move: 'complete' })).status).toBe(404);
  });

  it.each(['https://evil.example/', '//evil.example/', '/\\evil.example', 'javascript:alert(1)', 'http://['])(
    'never leads to %s',
    async referer => {
      const { create, post } = open();
      const { location } = await post(movesOf(await create()), { move: 'complete' }, { referer });
      expect(location).toBe('/');
    },
  );
});

describe('the timeline', () => {
  it('tells of calls, moves, and callbacks with what was answered, each at its time', async () => {
    const now = () => Date.UTC(2026, 0, 2, 3, 4, 5);
    const { sandbox, gateway, create, get } = open({ now });
    const id = await create({ reference: 'order-8' });
    sandbox.clock.advance(1_500);
    for (let count = 0; count < 3; count++) await gateway.getPayment(id);
    await sandbox.fail(id, { code: 4004 });
    await sandbox.idle();
    const { words, title } = await get(`/payments/${id}`);
    expect(title).toMatch(/^FAILED: order-8, 25\.50 EUR · /);
    expect(words).toContain('Sandbox clock +1.5 s 2026-01-02 03:04:06 UTC at the last refresh');
    const [, timeline = ''] = /Timeline (.*) Move it/.exec(words) ?? [];
    expect(timeline).toMatch(
      /^03:04:05\.000 Created 201 call 1 .* 03:04:06\.500 Looked up 200 call 2 .* Looked up 200 call 4 .* Moved PENDING → FAILED Insufficient balance .* Callback 1 FAILED 200 .* thanks/,
    );
  });

  it('of all payments keeps a move while other things happen, and that of another payment does not show it', async () => {
    const { sandbox, create, get } = open();
    const [moved, other] = [await create(), await create()];
    await sandbox.complete(moved);
    for (let count = 0; count < 1_000; count++) sandbox.clock.advance(1);
    expect((await get('/activity')).words).toContain('Moved PENDING → COMPLETED');
    expect((await get(`/payments/${other}`)).words).toMatch(/Timeline [\d:.]+ Created 201 call 2 [\d.]+ ms Move it/);
  });

  it('tells of what is held back, delayed, retried and lost, and by which fault', { tags: 'long' }, async () => {
    const answers = [503, 200];
    const fetch = async () => new Response('busy', { status: answers.shift() ?? 200 });
    const now = () => Date.UTC(2026, 0, 2, 3, 4, 5);
    const { sandbox, create, get, press } = open({ fetch, callbackRetries: [60_000], now });
    const id = await create();
    const timeline = async () => (await get(`/payments/${id}`)).words;
    sandbox.faults.next('callback-delay', { ms: 3_600_000 });
    await sandbox.authorize(id);
    expect(await timeline()).toMatch(
      /04:04:05\.000 Callback AUTHORIZED delayed Move the clock there fault callback-delay/,
    );
    const [, due = ''] = /name="at" value="([^"]+)"/.exec((await get(`/payments/${id}`)).text) ?? [];
    await press('/forms/PUT/clock', { at: due });
    await expect.poll(timeline).toMatch(/Callback 1 AUTHORIZED 503 .*Your app did not take it: 503 .* busy/);
    expect(await timeline()).toMatch(/Callback AUTHORIZED retry due/);
    sandbox.clock.advance(60_000);
    await sandbox.idle();
    expect(await timeline()).toMatch(/Callback 2 AUTHORIZED 200 .* again, after 1/);
    sandbox.faults.next('callback-lose');
    await sandbox.complete(id);
    expect(await timeline()).toMatch(/Callback 3 COMPLETED not posted never posted\. fault callback-lose/);
    sandbox.faults.next('callback-reorder');
    await sandbox.cancel(id, { force: true });
    expect(await timeline()).toMatch(/Callback CANCELED held back It follows the next callback/);
    expect((await get('/activity?show=waiting')).words).toMatch(/Callback CANCELED held back/);
  });

  it('shows a fault of a call, and a callback that is under way', async () => {
    const { sandbox, gateway, create, get } = open({ fetch: () => new Promise<Response>(() => {}) });
    const id = await create();
    sandbox.faults.next('commit-then-502', { on: 'lookup' });
    await gateway.getPayment(id).catch(() => {});
    await sandbox.complete(id);
    const { words } = await get(`/payments/${id}`);
    expect(words).toMatch(/Looked up 502 .* fault commit-then-502 The gateway takes the call; a proxy answers 502/);
    expect(words).toMatch(/Callback 1 COMPLETED running/);
    sandbox.reset();
  });
});

describe('the inspector of a call', () => {
  const body = '{"paymentType": "DEPOSIT"}';
  // printf '%s' '{"paymentType": "DEPOSIT"}' | openssl dgst -sha256 -hmac sandbox-sign-key
  const digest = execFileSync('openssl', ['dgst', '-sha256', '-hmac', 'sandbox-sign-key'], { input: body });
  const hex = /[0-9a-f]{64}/.exec(digest.toString())?.[0] ?? '';
  const authorization = 'Bearer sandbox-api-key';

  it('shows the bytes, what was expected in hex and base64 against what came, and why', async () => {
    const { get, send } = open();
    await send(body, { authorization, signature: `${hex.slice(0, 62)}zz` });
    const { words, title } = await get('/calls/1');
    expect(title).toMatch(/^401: POST \/api\/v1\/payments · /);
    expect(words).toContain('The signature does not match: another key, or another body than the one sent.');
    expect(words).toContain(hex);
    expect(words).toContain(Buffer.from(hex, 'hex').toString('base64'));
    expect(words).toContain(body);
    expect(words).toContain('authorization Bearer ••••••••');
  });

  it('of one without a signature says so, and of a right one that it matches', async () => {
    const { create, get, send } = open();
    await send(body, { authorization });
    expect((await get('/calls/1')).words).toMatch(/The Signature header is missing.* Came no Signature header/);
    await create();
    const { words } = await get('/calls/2');
    expect(words).toContain('It matches.');
    expect(words).not.toContain('Correct it');
  });

  it('shows no key that a merchant took by mistake', async () => {
    const { get, send } = open();
    await send(body, { authorization: 'Bearer sk_live_1', signature: hex });
    const { words } = await get('/calls/1');
    expect(words).toContain('The API key is not that of this terminal.');
    expect(words).not.toContain('sk_live_1');
    expect((await get('/')).words).not.toMatch(/Bearer sk/);
  });

  it('names what a reader does not see', async () => {
    const { get, send } = open();
    await send(Uint8Array.of(0x7b, 0xff, 0x00), { authorization, signature: hex });
    await send('\ufeff{}\r\n', { authorization, signature: hex });
    expect((await get('/calls/1')).words).toContain('3 bytes; it is no UTF-8, has control letters');
    expect((await get('/calls/2')).words).toContain(
      '7 bytes; it begins with a byte order mark, ends with a line break, begins with white space, has CR LF line ends.',
    );
  });

  it('shows a call that a fault broke, and a long body as far as it was kept', async () => {
    const { sandbox, create, get, send } = open();
    sandbox.faults.next('drop');
    await create().catch(() => {});
    const { words, title } = await get('/calls/1');
    expect(title).toMatch(/^no answer: POST \/api\/v1\/payments · /);
    expect(words).toContain('No answer was sent: a fault broke the connection.');
    await send('x'.repeat(70_000), { authorization, signature: hex });
    expect((await get('/calls/2')).words).toMatch(/70,000 bytes. The first 65,536 are kept/);
  });

  it('is found in the activity, also a refused one and one to no address', async () => {
    const { sandbox, create, get, send } = open();
    await create({ reference: 'order-1' });
    await send(body, { authorization });
    await sandbox.fetch(`${HERE}/api/v1/refunds`, { method: 'POST' });
    const callsOf = (page: string) => [...page.matchAll(/<li class="\w+" id="call-(\d)"/g)].map(([, id]) => id);
    const all = await get('/activity?show=calls');
    expect(callsOf(all.text)).toEqual(['3', '2', '1']);
    expect(all.words).toContain('There is no such address.');
    expect(callsOf((await get('/activity?show=problems')).text)).toEqual(['3', '2']);
    expect(callsOf((await get('/activity?search=ORDER-1')).text)).toEqual(['1']);
    expect(callsOf((await get('/activity?search=refunds&show=constructor')).text)).toEqual(['3']);
    expect((await get('/calls/99')).status).toBe(404);
  });
});

describe('a callback', () => {
  const playing = async () => {
    const bodies: string[] = [];
    const fetch = async (_: string, { body }: RequestInit) => {
      bodies.push(String(body));
      return new Response('thanks');
    };
    const opened = open({ fetch });
    await opened.sandbox.complete(await opened.create({ reference: 'order-1' }));
    await opened.sandbox.idle();
    return { ...opened, bodies };
  };

  const REDELIVER = '/forms/POST/deliveries/1/redeliver';

  it('is redelivered byte for byte, and its editor lays it out', async () => {
    const { get, post, bodies } = await playing();
    expect(await post(REDELIVER)).toMatchObject({ status: 303, location: '/deliveries/2' });
    expect(bodies).toEqual([bodies[0], bodies[0]]);
    const [, editor = ''] = /<textarea[^>]*>([^<]*)/.exec((await get('/deliveries/1')).text) ?? [];
    expect(asText(editor)).toContain('\n  "paymentStatus": "COMPLETED"');
    expect((await post(REDELIVER.replace('1', '9'))).status).toBe(404);
  });

  it('is posted as it was edited, and says so', async () => {
    const { press, bodies } = await playing();
    // A browser sends the lines of an editor with CR LF.
    const { words, title } = await press(REDELIVER, { body: '{"paymentStatus":\r\n"FAILED"}' });
    expect(bodies[1]).toBe('{"paymentStatus":\n"FAILED"}');
    expect(title).toMatch(/^200: COMPLETED order-1, callback 2 · /);
    expect(words).toContain('Your app took it: 200');
    expect(words).toMatch(/Repeats Callback 1 with an edited body/);
    expect(words).toMatch(/Answer thanks/);
  });

  it('that found nobody says so, and what to do', async () => {
    const { sandbox, create, get } = open({ fetch: undefined });
    await sandbox.complete(await create({ webhookUrl: `http://127.0.0.1:${(await freePorts(1))[0]}/callbacks` }));
    await sandbox.idle();
    const { words } = await get('/deliveries/1');
    expect(words).toContain('Nobody listens there: start your app, then redeliver it.');
    expect((await get('/activity?show=problems')).words).toContain('Callback 1');
  });
});

describe('faults', () => {
  const ARM = '/forms/POST/faults';
  it('are armed with every option of the form, told of on every page, and disarmed one by one', async () => {
    const { sandbox, create, get, post } = open();
    await create();
    await post(ARM, { fault: 'slow', on: 'lookup', ms: '5', count: '2', probability: '0.5', reference: 'order-1' });
    await post(ARM, { fault: 'callback-lose', ms: '', count: '', reference: '' });
    expect(sandbox.faults.armed).toEqual([
      { id: 1, fault: 'slow', on: 'lookup', ms: 5, count: 2, probability: 0.5, reference: 'order-1' },
      { id: 2, fault: 'callback-lose', on: 'callback', count: 1 },
    ]);
    const { words } = await get('/faults');
    for (const fault of ['slow', 'reference-fold', 'callback-lose']) expect(words).toContain(`Arm ${fault} `);
    expect(words).toContain(
      'The next 2 lookups with reference order-1 meet slow , of 5 ms, with probability 0.5 each time.',
    );
    for (const path of ['/', '/activity', '/calls/1']) {
      expect((await get(path)).words).toContain('Armed. The next 2 lookups');
    }
    await post('/forms/DELETE/faults/1');
    expect(sandbox.faults.armed.map(({ id }) => id)).toEqual([2]);
    expect((await post('/forms/DELETE/faults/1')).status).toBe(404);
    await post('/forms/DELETE/faults');
    expect(sandbox.faults.armed).toEqual([]);
    expect((await get('/')).words).not.toContain('Armed.');
  });

  it('are refused with the reason', async () => {
    const { post } = open();
    const words = expect.stringContaining('fault must be drop or ');
    expect(await post(ARM, { fault: 'explode' })).toMatchObject({ status: 422, words });
    expect(await post(ARM, { fault: 'drop', count: 'x' })).toMatchObject({ status: 422 });
    expect((await post('/forms/nothing')).status).toBe(404);
  });
});

describe('the clock of the sandbox', () => {
  it('is advanced, and set right again', async () => {
    const now = () => Date.UTC(2026, 0, 2, 3, 4, 5);
    const { sandbox, post, get } = open({ now });
    await post('/forms/PUT/clock', { advance: '1d' });
    expect((await get('/')).words).toContain('2026-01-03 03:04:05 UTC at the last refresh, 1 d ahead of this machine.');
    await post('/clock');
    expect(sandbox.clock.offset).toBe(0);
  });

  it('is set right by a reset, which forgets every payment', async () => {
    const { sandbox, create, post } = open();
    await create();
    sandbox.clock.advance(1_000);
    expect((await post('/forms/POST/reset')).location).toBe('/');
    expect([sandbox.payments, sandbox.clock.offset]).toEqual([[], 0]);
  });
});

it('a newcomer plays a scenario with one button', { tags: 'long' }, async () => {
  const { sandbox, get, press } = open();
  const { text, words } = await get('/');
  expect(words).toContain('No payment yet. Make the first one');
  const [, to = ''] = /action="\/play".*?name="to" value="([^"]*)"/s.exec(text) ?? [];
  const played = await press('/play', { name: 'deposit-completed', to });
  expect(played.title).toMatch(/^COMPLETED: deposit-completed-\w+, /);
  expect(played.words).toContain('Scenario played deposit-completed as expected');
  // Nobody has said where callbacks go, and nothing had to be set up.
  expect(to).toBe('');
  expect(sandbox.deliveries).toMatchObject([{ status: 200 }]);
});

it('a scenario posts its callbacks to the address in the form', async () => {
  const { sandbox, press } = open();
  const to = 'https://shop.example/callbacks';
  await press('/play', { name: 'deposit-completed', to });
  await press('/report', { to });
  expect(new Set(sandbox.deliveries.map(({ url }) => url.split('?')[0]))).toEqual(new Set([to]));
});

it('the feed reports that something happened, and no more, until it goes away', async () => {
  const { sandbox, create } = open();
  const response = await sandbox.fetch(`${HERE}/live`);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await next()).toBe('\n');
  const id = await create();
  expect(await next()).toBe('data: \n\n');
  await sandbox.complete(id);
  expect(await next()).toBe('data: \n\n');
  expect(await next()).toBe('data: \n\n');
  await reader.cancel();
  await sandbox.cancel(id, { force: true });
});

it.each([
  [0.4, '0 ms'],
  [999, '999 ms'],
  [1_500, '1.5 s'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 d 1 h'],
])('the words of a page for %d ms are %s', (ms, words) => expect(spanOf(ms)).toBe(words));
