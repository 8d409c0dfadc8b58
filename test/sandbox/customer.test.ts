// The customer's pages, without a browser and without their script: what each shows, and where each form leads.
import { describe, expect, it } from 'vitest';
import { OTHER_ID } from '../support/fixtures.ts';
import { HERE, openPages as open, returnUrl, wordsOf } from '../support/pages.ts';

const titleOf = (page: string) => asText(/<title>(.*?)<\/title>/.exec(page)?.[1] ?? '');
const asideOf = (page: string) => /<aside[\s\S]*<\/aside>/.exec(page)?.[0] ?? '';
const asText = (page: string) => page.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');
/** What a customer reads: the test controls are for testers. */
const shownOf = (page: string) => asText(wordsOf(page.replace(asideOf(page), '')));
const now = () => Date.UTC(2026, 10, 22);
const VISA = { act: 'submit', number: '4242 4242 4242 4242', expiry: '12 / 29', cvv: '123', holder: 'Alex Example' };
const IDENTITY = { act: 'quote', person: 'Zoë Any', birth: '1990-01-31' };
const BANCONTACT = { paymentMethod: 'BANCONTACT' };
const BLIK = { paymentMethod: 'BLIK', currency: 'PLN' };

const COMPLETED = { paymentStatus: 'COMPLETED' };
const AUTHORIZED = { paymentStatus: 'AUTHORIZED' };
const failed = (errorMessage: string) => ({ paymentStatus: 'FAILED', errorMessage });

describe('the payment page', () => {
  it('shows who is paid, how much, for what, and how', async () => {
    const { create, get } = open({ shopName: 'Nordlicht Records' });
    const id = await create({ amount: '1249.5', reference: 'order-1', description: 'Two tickets' });
    const { status, text } = await get(`/pay/${id}`);
    expect(status).toBe(200);
    for (const words of ['Nordlicht Records', '1,249.50 EUR', 'order-1', 'Two tickets', 'Card number']) {
      expect(shownOf(text)).toContain(words);
    }
    expect(titleOf(text)).toBe('Pay 1,249.50 EUR · Nordlicht Records');
  });

  it.each([
    ['de-DE,en;q=0.8', '1.249,50 EUR'],
    ['*', '1,249.50 EUR'],
  ])('writes amounts for the language %s, and the name of the customer', async (language, sum) => {
    const { sandbox, create } = open();
    const id = await create({ amount: '1249.5', customer: { firstName: 'Zoë', lastName: '"Any"' } });
    const page = await sandbox.fetch(`${HERE}/pay/${id}`, { headers: { 'accept-language': language } });
    expect(await page.text()).toMatch(new RegExp(`${sum}</bdi>[^]*value="Zoë &quot;Any&quot;"[^]*Pay ${sum}</button>`));
  });

  it.each([
    ['Nordlicht Records', 'N'],
    ['& zoë', 'Z'],
    ['日本 書店', '日'],
    ['🎈 ~', '•'],
  ])('draws the first letter of %s', async (shopName, monogram) => {
    const { create, get } = open({ shopName });
    expect((await get(`/pay/${await create()}`)).text).toContain(`aria-hidden="true">${monogram}</span>`);
  });

  it('has one of five colours, the same for each payment of a shop', async () => {
    const { sandbox } = open();
    const style = await (await sandbox.fetch(`${HERE}/pages.css`)).text();
    const coloursOf = async (shopName: string) => {
      const { create, get } = open({ shopName });
      const pages = [(await get(`/pay/${await create()}`)).text, (await get(`/pay/${await create()}`)).text];
      return new Set(pages.map(page => /class="summary (hue-\d)"/.exec(page)?.[1]));
    };
    const all = await Promise.all(Array.from('abcdefghij', name => coloursOf(`Shop ${name}`)));
    expect(all.map(({ size }) => size)).toEqual(all.map(() => 1));
    const colours = [...new Set(all.flatMap(colours => [...colours]))].sort();
    expect(colours).toEqual(['hue-1', 'hue-2', 'hue-3', 'hue-4', 'hue-5']);
    for (const colour of colours) expect(style).toContain(`.${colour} {`);
  });

  it.each([
    ['JPY', 1000, '1,000 JPY'],
    ['KWD', 1.5, '1.500 KWD'],
    ['A'.repeat(300), 5, '5.00 AAAAAAAA…'],
  ])('writes an amount of %s in its usual form', async (currency, amount, text) => {
    const { create, get } = open();
    for (const paymentMethod of ['CARD', 'USER_CHOICE', 'MULTIBANCO', 'PAYID', 'IDEAL', 'BLIK', 'ONRAMP_PIX']) {
      const page = (await get(`/pay/${await create({ currency, amount, paymentMethod })}`)).text;
      expect(page).toContain(`<h1 class="sum"><bdi>${text}</bdi></h1>`);
      expect(page).not.toContain('A'.repeat(20));
    }
  });

  it.each([
    ['pay', COMPLETED],
    ['authorize', AUTHORIZED],
    ['insufficient-balance', failed('Insufficient balance')],
    ['cvv', failed('CVV error')],
    ['canceled', failed('Canceled by the user')],
    ['not-funded', failed('Payment not funded')],
    ['no-3ds', failed('3-D Secure authentication failed')],
    ['abandon', { paymentStatus: 'PENDING' }],
  ])('on %s moves the payment to %j, and returns to the shop', async (act, record) => {
    const { sandbox, create, get, post } = open();
    const id = await create();
    expect(asideOf((await get(`/pay/${id}`)).text)).toContain(`name="act" value="${act}"`);
    expect(await post(`/pay/${id}`, { act })).toMatchObject({ status: 303, location: returnUrl });
    expect(sandbox.payments[0]).toMatchObject(record);
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(act === 'abandon' ? 0 : 1);
  });

  it('of a payment that is final moves nothing, and a second click goes where the first one led', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create();
    await post(`/pay/${id}`, { act: 'pay' });
    for (const act of ['cvv', 'submit']) {
      expect(await post(`/pay/${id}`, { act })).toMatchObject({ status: 303, location: returnUrl });
    }
    expect(sandbox.payments[0]).toMatchObject(COMPLETED);
    expect((await get(`/pay/${id}`)).text).not.toContain('<form');
  });

  it('is captured in the test controls after it was authorised, and asks the customer for nothing more', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create();
    await post(`/pay/${id}`, { act: 'authorize' });
    const { text } = await get(`/pay/${id}`);
    expect(text).toContain('Complete at once');
    expect(text).not.toMatch(/Authorise first|name="number"/);
    await post(`/pay/${id}`, { act: 'pay' });
    expect(sandbox.payments[0]).toMatchObject(COMPLETED);
  });

  it('exists for deposits alone, and takes no act but its own', async () => {
    const { create, get, post } = open();
    const withdrawal = await create({ paymentType: 'WITHDRAWAL', paymentMethod: 'PAYID' });
    for (const path of [`/pay/${OTHER_ID}`, `/pay/${withdrawal}`]) {
      expect((await get(path)).status).toBe(404);
    }
    expect((await post(`/pay/${withdrawal}`, { act: 'pay' })).status).toBe(404);
    for (const act of ['refund', '', 'constructor', '__proto__']) {
      expect((await post(`/pay/${await create()}`, { act })).status).toBe(422);
    }
  });
});

describe('the outcome', () => {
  it.each([
    ['complete', {}, 'Payment complete', 'Thank you.', 'Paid with Card'],
    ['fail', { code: 4004 }, 'Payment declined', 'Nothing was charged.', 'Reason Insufficient balance'],
    ['fail', { reason: 'Do not honour' }, 'Payment declined', 'Nothing was charged.', 'Reason Do not honour'],
    ['fail', {}, 'Payment declined', 'Nothing was charged.'],
    ['cancel', {}, 'Payment canceled', 'Nothing was charged.'],
    ['authorize', {}, 'Payment approved', 'reserved', 'Paid with Card'],
  ] as const)('of %s %j says so in the words of a customer', async (move, options, title, ...words) => {
    const { sandbox, create, get } = open();
    const id = await create();
    await sandbox[move](id, options);
    const { text } = await get(`/pay/${id}`);
    expect(titleOf(text)).toBe(`${title}: 25.50 EUR · Your shop`);
    for (const word of words) expect(shownOf(text)).toContain(word);
    expect(shownOf(text)).not.toMatch(/PENDING|COMPLETED|FAILED|CANCELED|AUTHORIZED|\brecord\b/);
    expect(text).toContain(`<a class="button primary" href="${returnUrl}">Back to the shop</a>`);
  });

  it.each([
    ['https://shop.example/danke/✓?q=zurück', 'https://shop.example/danke/%E2%9C%93?q=zur%C3%BCck'],
    ['myapp://paid', 'myapp://paid'],
    ['com.shop.app:/thanks?a=1&b=2', 'com.shop.app:/thanks?a=1&b=2'],
  ])('leads back to %s', async (returnUrl, location) => {
    const { create, get, post } = open();
    const id = await create({ returnUrl });
    expect(await post(`/pay/${id}`, { act: 'pay' })).toMatchObject({ status: 303, location });
    expect(asText((await get(`/pay/${id}`)).text)).toContain(`href="${location}"`);
  });

  it.each([
    null,
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    'blob:https://shop.example/1',
    'filesystem:https://shop.example/1',
    'view-source:https://shop.example/',
    'about:blank',
  ])('does not lead to %s, and says why', async address => {
    const { create, get, post } = open();
    const id = await create({ returnUrl: address });
    expect(await post(`/pay/${id}`, { act: 'pay' })).toMatchObject({ location: `/pay/${id}` });
    const { text } = await get(`/pay/${id}`);
    const why = "The shop's return address is not followed: it is neither a web page nor an app.";
    if (address) expect(shownOf(text)).toContain(`${why} ${address}`);
    expect(text).not.toMatch(/href="(?:file|blob|filesystem|view-source|about):|Back to the shop/i);
  });
});

describe('a form', () => {
  it.each<[request: object, input: object, record: object]>([
    [{}, VISA, COMPLETED],
    [{}, { number: '4242424242424242' }, COMPLETED],
    [{}, { number: '4111 1111 1111 1111' }, COMPLETED],
    [{}, { number: '5555-5555-5555-4444', cvv: '000' }, COMPLETED],
    [{}, { number: '3782 822463 10005', cvv: '1234' }, COMPLETED],
    [{}, { number: '5105 1051 0510 5100' }, AUTHORIZED],
    [{}, { number: '4000 0000 0000 3055' }, COMPLETED],
    [{}, { number: '4000 0084 0000 1629' }, failed('3-D Secure authentication failed')],
    [{}, { number: '4000 0000 0000 0127' }, failed('CVV error')],
    [{}, { number: '4000 0000 0000 9995' }, failed('Insufficient balance')],
    [{}, { number: '4000 0000 0000 3220' }, failed('Canceled by the user')],
    [{}, { number: '4000 0000 0000 0341' }, failed('Payment not funded')],
    [BANCONTACT, { number: '6703 4444 4444 4449', cvv: '' }, COMPLETED],
    [BLIK, { code: '400400' }, failed('Insufficient balance')],
    [BLIK, { code: '401800' }, failed('Canceled by the user')],
    [BLIK, { code: '999 999' }, failed('Payment not funded')],
  ])('of %j with %j ends as %j', async (request, input, record) => {
    const { sandbox, create, post } = open({ now });
    expect(await post(`/pay/${await create(request)}`, { ...VISA, ...input })).toMatchObject({
      status: 303,
      location: returnUrl,
    });
    expect(sandbox.payments[0]).toMatchObject(record);
  });

  it.each<[request: object, number: string]>([
    [{}, ''],
    [{}, '4242 4242 4242 4241'],
    // The check digit is right, but it is not a test number.
    [{}, '4539 5787 6362 1486'],
    [BANCONTACT, VISA.number],
  ])('of %j takes no number but a test number, and shows %j never again', async (request, number) => {
    const { sandbox, create, post } = open({ now });
    const id = await create(request);
    const { status, text } = await post(`/pay/${id}`, { ...VISA, number, cvv: '987' });
    expect(status).toBe(422);
    expect(text).toContain('<p class="verdict bad" role="alert">Test page: never type a real card.');
    expect(/<input id="number"[^>]*>/.exec(text)?.[0]).toMatch(/value="".* autofocus/);
    expect(titleOf(text)).toMatch(/^Please check: /);
    expect(text.replaceAll(id, '')).not.toMatch(/987|4539/);
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'PENDING' });
  });

  it('leaves no card number anywhere in the sandbox', async () => {
    const events: unknown[] = [];
    const { sandbox, create, get, post } = open({ now, onEvent: event => events.push(event) });
    const id = await create();
    await post(`/pay/${id}`, { ...VISA, number: '4539578763621486' });
    await post(`/pay/${id}`, { ...VISA, number: '4000 0000 0000 0127' });
    await sandbox.idle();
    const pages = await Promise.all(['/', `/payments/${id}`].map(async path => (await get(path)).text));
    const seen = JSON.stringify([events, sandbox.payments, sandbox.deliveries, pages]);
    expect(seen.replace(/[\s-]/g, '')).not.toMatch(/4539578763621486|4000000000000127/);
  });

  it('is filled in by the test controls', async () => {
    const { create, get } = open({ now });
    const { text } = await get(`/pay/${await create()}?test=4000+0000+0000+9995`);
    const filled = { number: '4000 0000 0000 9995', expiry: '12 / 48', cvv: '123', holder: 'Alex Example' };
    for (const [name, value] of Object.entries(filled))
      expect(text).toContain(`name="${name}" value="${value}" required`);
  });
});

describe('the steps of a method', () => {
  const US = { reference: null, billingAddress: { countryCode: 'US' } };
  it.each([
    ['APPLEPAY', US, '', ['Apple Pay', '25.50 EUR', 'Approve']],
    ['GOOGLEPAY', US, '', ['Google Pay', '25.50 EUR', 'Approve']],
    ['BLIK', BLIK, '', ['BLIK code', 'type the six digits']],
    ['CARD', {}, '?step=confirm', ['3-D Secure: is this you\\?', 'To Your shop', 'Approve', 'Cancel']],
    ['BLIK', BLIK, '?step=confirm', ['Approve this payment\\?', '25.50 PLN', 'Approve', 'Cancel']],
    ['MULTIBANCO', {}, '', [/Account pay-[\da-f]{8}@sandbox\.example Copy .* Amount in EUR 25\.50 Copy/]],
    ['ONRAMP_GBPBANKTRANSFER', { currency: 'GBP' }, '', [/Amount in GBP 25\.50 Copy Reference [\dA-F]{8} Copy/]],
    // A method that the merchant has fixed stays.
    ['ONRAMP_SPEI', { currency: 'MXN' }, '?method=ONRAMP_CARD', ['SPEI', 'Reference']],
    ['ONRAMP_INTERAC', { currency: 'CAD' }, '', [/Account holder .* Copy Amount in CAD 25\.50/]],
    ['ONRAMP_PIX', { currency: 'BRL' }, '', [/sandbox:[\da-f-]{36}\?amount=25\.50&currency=BRL/]],
    ['ONRAMP_QRTHWALLET', { currency: 'THB' }, '', [/sandbox:[\da-f-]{36}\?amount=25\.50&currency=THB/]],
  ] as const)('%s %j%s show what the customer needs', async (paymentMethod, request, step, words) => {
    const { create, get, post } = open();
    const id = await create({ ...request, paymentMethod });
    await post(`/pay/${id}`, IDENTITY);
    const { text } = await get(`/pay/${id}${step}`);
    for (const word of words) expect(shownOf(text)).toMatch(typeof word === 'string' ? new RegExp(word) : word);
    if (/PIX|QRTH/.test(paymentMethod)) expect(text).toContain('role="img" aria-label="QR code of the payment"');
  });

  it('lead from a BLIK code and from 3-D Secure to the app', async () => {
    const { sandbox, create, get, post } = open({ now });
    const card = `/pay/${await create()}`;
    const challenge = await post(card, { ...VISA, number: '4000 0025 0000 3155' });
    expect([challenge.location, sandbox.payments[0]?.paymentStatus]).toEqual([`${card}?step=confirm`, 'PENDING']);
    // Its digit would stand at the end of a line from right to left.
    expect((await get(`${card}?step=confirm`)).text).toContain('<bdi>3-D Secure: is this you?</bdi>');
    const blik = `/pay/${await create(BLIK)}`;
    expect(await post(blik, { act: 'submit', code: '777 123' })).toMatchObject({ location: `${blik}?step=confirm` });
  });

  it.each(['IDEAL', 'EPS', 'P24', 'ONRAMP_PSE', 'ONRAMP_KHIPU', 'ONRAMP_ZAR', 'ONRAMP_OPENBANKING'])(
    '%s lets the customer choose an invented bank, and consent there',
    async paymentMethod => {
      const { create, get, post } = open({ shopName: 'Nordlicht' });
      const id = await create({ paymentMethod, description: 'Two tickets' });
      await post(`/pay/${id}`, IDENTITY);
      const list = (await get(`/pay/${id}`)).text;
      const banks = [...list.matchAll(/name="bank" value="([^"]+)"/g)].map(([, bank = '']) => asText(bank));
      expect(banks.length).toBeGreaterThanOrEqual(4);
      // The largest banks of these countries, as their central banks list them.
      expect(banks.join()).not.toMatch(
        /\b(ING|Rabobank|ABN|AMRO|bunq|KBC|BNP|Belfius|Erste|Raiffeisen|BAWAG|PKO|Pekao|mBank|Santander|Barclays|HSBC|Lloyds|NatWest|Monzo|Revolut|Absa|Nedbank|Capitec|Bancolombia|Davivienda|BBVA)\b/,
      );
      for (const bank of banks) {
        const { text } = await get(`/pay/${id}?${new URLSearchParams({ bank })}`);
        for (const words of [bank, 'To Nordlicht', 'For Two tickets', 'Approve', 'Cancel payment'])
          expect(shownOf(text)).toContain(words);
      }
      expect(shownOf((await get(`/pay/${id}?bank=Nobody`)).text)).not.toContain('Approve');
    },
  );

  it('of PayID show the instructions of the create, and a terminal can redirect to them', async () => {
    const request = { paymentMethod: 'PAYID', amount: '80.00', currency: 'AUD', webhookUrl: returnUrl } as const;
    const { gateway, get } = open();
    const { payment, nextAction } = await gateway.createDeposit(request);
    if (nextAction.type !== 'transfer') throw new Error('no transfer');
    const { number, full_holder_name, payment_description, amount } = nextAction.transfer;
    const words = shownOf((await get(`/pay/${payment.id}`)).text);
    for (const word of [number, full_holder_name, payment_description, `AUD ${amount}`]) expect(words).toContain(word);
    const other = await open({ payid: 'redirect' }).gateway.createDeposit(request);
    expect(other.nextAction).toEqual({ type: 'redirect', redirectUrl: `${HERE}/pay/${other.payment.id}` });
  });

  it.each([
    ['CARD', true],
    ['GOOGLEPAY', true],
    ['IDEAL', true],
    ['BLIK', true],
    ['MULTIBANCO', false],
    ['PAYID', false],
    ['USER_CHOICE', false],
    ['ONRAMP_CARD', false],
  ])('of %s can authorise first: %s', async (paymentMethod, isOffered) => {
    const { create, get } = open();
    const { text } = await get(`/pay/${await create({ paymentMethod })}`);
    expect(text.includes('Authorise first')).toBe(isOffered);
  });
});

describe('the on-ramp widget', () => {
  it.each([
    ['BRL', ['PIX']],
    ['ZAR', ['ZAR']],
    ['COP', ['PSE']],
    ['CLP', ['KHIPU']],
    ['THB', ['QRTHWALLET']],
    ['CAD', ['INTERAC']],
    ['MXN', ['SPEI']],
    ['AUD', ['PAYID']],
    ['EUR', ['OPENBANKING']],
    ['gbp', ['OPENBANKING', 'GBPBANKTRANSFER']],
    ['JPY', []],
  ])('offers for %s the methods of that currency, cards and wallets', async (currency, methods) => {
    const { create, get } = open();
    for (const paymentMethod of ['USER_CHOICE', 'ONRAMP']) {
      const { text } = await get(`/pay/${await create({ paymentMethod, currency, amount: 540 })}`);
      const offered = [...text.matchAll(/name="method" value="ONRAMP_(\w+)"/g)].map(([, method]) => method);
      expect(offered).toEqual([...methods, 'CARD', 'APPLEPAY', 'GOOGLEPAY']);
    }
  });

  it('shows the rate, the crypto and the wallet before and after paying', async () => {
    const { sandbox, create, get, post } = open();
    const additionalParameters = { destination_wallet: '0x71c7' };
    const id = await create({ paymentMethod: 'USER_CHOICE', amount: 540, currency: 'BRL', additionalParameters });
    // 1.5 % of 540.
    const receipt = '99.49698745 USDT Rate 1 USDT = 5.4273 BRL Fee 8.10 BRL, in the rate Wallet 0x71c7';
    for (const step of ['', '?method=ONRAMP_PIX', '?method=ONRAMP_CARD']) {
      expect(shownOf((await get(`/pay/${id}${step}`)).text)).toContain(`You receive ${receipt}`);
    }
    await post(`/pay/${id}`, { act: 'pay', method: 'ONRAMP_PIX' });
    expect(sandbox.payments[0]).toMatchObject({
      paymentMethod: 'ONRAMP_PIX',
      paymentStatus: 'COMPLETED',
      settled_crypto_amount: 99.49698745,
      destination_wallet: '0x71c7',
    });
    const outcome = shownOf((await get(`/pay/${id}`)).text);
    for (const words of [`You received ${receipt}`, 'Your USDT is on its way', 'Paid with Pix'])
      expect(outcome).toContain(words);
    await sandbox.fail(id, { force: true });
    expect(shownOf((await get(`/pay/${id}`)).text)).not.toMatch(/You receive|USDT/);
  });

  it('carries the choice through every form, and lets the customer choose again', async () => {
    const { sandbox, create, get, post } = open({ now });
    const id = await create({ paymentMethod: 'USER_CHOICE', currency: 'BRL' });
    const { location } = await post(`/pay/${id}`, { ...IDENTITY, method: 'ONRAMP_CARD' });
    expect(location).toBe(`/pay/${id}?method=ONRAMP_CARD`);
    const { text } = await get(location ?? '');
    expect(text.match(/<form/g)?.length).toBe(text.match(/name="method" value="ONRAMP_CARD"/g)?.length);
    expect(text).toContain(`href="/pay/${id}">`);
    const wrong = await post(`/pay/${id}`, { ...VISA, number: '', method: 'ONRAMP_CARD' });
    expect(wrong.text).toContain('name="method" value="ONRAMP_CARD"');
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'USER_CHOICE' });
  });

  it.each([
    ['USER_CHOICE', 'BRL', 'ONRAMP_CARD', { ...VISA, act: 'submit' }, 'ONRAMP_CARD', 'COMPLETED'],
    ['USER_CHOICE', 'EUR', 'ONRAMP_OPENBANKING', { act: 'cvv' }, 'ONRAMP_OPENBANKING', 'FAILED'],
    ['USER_CHOICE', 'EUR', 'ONRAMP_CARD', { act: 'abandon' }, 'USER_CHOICE', 'PENDING'],
    ['ONRAMP', 'BRL', 'ONRAMP_PIX', { act: 'pay' }, 'ONRAMP', 'COMPLETED'],
    // A choice that is not offered.
    ['ONRAMP_SPEI', 'MXN', 'ONRAMP_CARD', { act: 'pay' }, 'ONRAMP_SPEI', 'COMPLETED'],
    ['USER_CHOICE', 'EUR', 'SEPA', { act: 'pay' }, 'USER_CHOICE', 'COMPLETED'],
    ['USER_CHOICE', 'EUR', 'CARD', { act: 'pay' }, 'USER_CHOICE', 'COMPLETED'],
    ['USER_CHOICE', 'EUR', 'ONRAMP_PIX', { act: 'pay' }, 'USER_CHOICE', 'COMPLETED'],
  ] as const)('of %s in %s, by %s, on %j records %s as %s', async (from, currency, method, form, recorded, status) => {
    const { sandbox, create, post } = open({ now });
    const id = await create({ paymentMethod: from, currency });
    await post(`/pay/${id}`, { ...IDENTITY, method });
    await post(`/pay/${id}`, { ...form, method });
    await post(`/pay/${id}`, { act: 'abandon', method: 'ONRAMP_GOOGLEPAY' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: recorded, paymentStatus: status });
  });
});

describe('the identity check and the quote of the on-ramp', () => {
  const opened = async (request: object = {}) => {
    let time = Date.UTC(2026, 0, 2, 3, 4, 5);
    const pages = open({ now: () => time });
    const id = await pages.create({ paymentMethod: 'ONRAMP_CARD', currency: 'EUR', ...request });
    const page = async () => shownOf((await pages.get(`/pay/${id}`)).text);
    const act = (form: Record<string, string>) => pages.post(`/pay/${id}`, form);
    const pass = (ms: number) => {
      time += ms;
    };
    return { ...pages, id, page, act, pass };
  };

  it('come before the payment, and keep neither name nor date', async () => {
    const { sandbox, page, act, id } = await opened();
    expect(await page()).toMatch(/Who are you\? .* Full name Date of birth Continue/);
    expect(await act(IDENTITY)).toMatchObject({ status: 303, location: `/pay/${id}` });
    expect(await page()).toMatch(/Good until 03:06:05 UTC .* Card number/);
    expect(JSON.stringify(sandbox.save())).not.toMatch(/Zoë|1990-01/);
    await act(VISA);
    expect(sandbox.payments[0]).toMatchObject(COMPLETED);
    expect(await page()).not.toContain('Good until');
  });

  it('refuse a test name, which the page lists and fills in', async () => {
    const { sandbox, get, act, id } = await opened();
    const { text } = await get(`/pay/${id}?test=Robin+Refused`);
    expect(text).toContain('name="person" value="Robin Refused"');
    expect(wordsOf(asideOf(text))).toContain('Robin Refused Fail the identity check');
    expect(await act({ ...IDENTITY, person: 'Robin Refused' })).toMatchObject({ location: returnUrl });
    expect(sandbox.payments[0]).toMatchObject(failed('Identity check failed'));
  });

  it('give two minutes by the clock of the sandbox, and a new quote on request, also after a restart', async () => {
    const { sandbox, page, act, pass, id } = await opened();
    await act(IDENTITY);
    pass(60_000);
    sandbox.clock.advance(59_999);
    expect(await page()).toContain('Card number');
    pass(1);
    expect(await page()).toMatch(/Your quote has expired .* Get a new quote/);
    for (const form of [VISA, { act: 'pay' }]) {
      expect(await act(form)).toMatchObject({ status: 303, location: `/pay/${id}` });
    }
    const { get } = open({ now: () => Date.UTC(2026, 0, 2, 3, 10), saved: sandbox.save() });
    expect(shownOf((await get(`/pay/${id}`)).text)).toContain('Your quote has expired');
    expect(await act({ act: 'quote' })).toMatchObject({ location: `/pay/${id}` });
    expect(await page()).toMatch(/Good until 03:08:05 UTC .* Card number/);
    await act(VISA);
    expect(sandbox.payments[0]).toMatchObject(COMPLETED);
  });

  it('let the test controls pay at any time', async () => {
    const { sandbox, act, pass } = await opened();
    await act(IDENTITY);
    pass(120_000);
    await act({ act: 'pay', amount: '25.5' });
    expect(sandbox.payments[0]).toMatchObject(COMPLETED);
  });

  it('concern no other payment', async () => {
    const { page, act, pass } = await opened({ paymentMethod: 'CARD' });
    expect(await page()).toContain('Card number');
    await act(IDENTITY);
    await act({ act: 'quote' });
    pass(120_000);
    expect(await page()).not.toMatch(/quote|Fee|Who are you/);
  });
});
