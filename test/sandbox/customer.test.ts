// The customer's pages, without a browser and without their script: what each shows, and where each form leads.
import { describe, expect, it } from 'vitest';
import { OTHER_ID } from '../support/fixtures.ts';
import { HERE, openPages as open, returnUrl, wordsOf } from '../support/pages.ts';

const titleOf = (page: string) => /<title>(.*?)<\/title>/.exec(page)?.[1];
/** What a customer reads: the test controls are for testers. */
const shownOf = (page: string) => wordsOf(page.replace(/<aside[\s\S]*<\/aside>/, ''));
const asText = (page: string) => page.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');
/** A valid form; the day is before the expiry of the test cards. */
const now = () => Date.UTC(2026, 10, 22);
const VISA = { act: 'submit', number: '4242 4242 4242 4242', expiry: '12 / 29', cvv: '123', holder: 'Alex Example' };

describe('the payment page', () => {
  it('shows who is paid, how much, for what, and how', async () => {
    const { create, get } = open({ shopName: 'Nordlicht Records' });
    const id = await create({ amount: '1249.5', reference: 'order-1', description: 'Two tickets' });
    const { status, text } = await get(`/pay/${id}`);
    expect(status).toBe(200);
    for (const words of ['Nordlicht Records', '1,249.50 EUR', 'order-1', 'Two tickets', 'Pay by card']) {
      expect(shownOf(text)).toContain(words);
    }
    expect(text).toContain('<h1 class="sum ">1,249.50 EUR</h1>');
    expect(titleOf(text)).toBe('Pay 1,249.50 EUR · Nordlicht Records');
  });

  it.each(['4111 1111 1111 1111', '4242424242424242'])('takes the test card %s', async number => {
    const { sandbox, create, post } = open({ now });
    const id = await create();
    expect((await post(`/pay/${id}`, { ...VISA, number })).status).toBe(303);
    expect(sandbox.payments[0]?.paymentStatus).toBe('COMPLETED');
  });

  it('of a shop without a name is that of your shop', async () => {
    const { create, get } = open();
    expect(titleOf((await get(`/pay/${await create()}`)).text)).toBe('Pay 25.50 EUR · Your shop');
  });

  it.each([
    ['Nordlicht Records', 'NR'],
    ['zoë & söhne', 'ZS'],
    ['Ёлка', 'Ё'],
    ['日本 書店', '日書'],
    ['🎈 ~', '•'],
  ])('draws a monogram of %s', async (shopName, monogram) => {
    const { create, get } = open({ shopName });
    expect((await get(`/pay/${await create()}`)).text).toContain(`aria-hidden="true">${monogram}</span>`);
  });

  it.each([
    [{ act: 'pay' }, { paymentStatus: 'COMPLETED' }],
    [{ act: 'authorize' }, { paymentStatus: 'AUTHORIZED' }],
    [{ act: 'insufficient-balance' }, { paymentStatus: 'FAILED', errorMessage: 'Insufficient balance' }],
    [{ act: 'cvv' }, { paymentStatus: 'FAILED', errorMessage: 'CVV error' }],
    [{ act: 'canceled' }, { paymentStatus: 'FAILED', errorMessage: 'Canceled by the user' }],
    [{ act: 'not-funded' }, { paymentStatus: 'FAILED', errorMessage: 'Payment not funded' }],
    [{ act: 'not-funded' }, { paymentStatus: 'FAILED', errorMessage: 'Payment not funded' }],
    [{ act: 'abandon' }, { paymentStatus: 'PENDING' }],
  ])('on %j moves the payment to %j, and returns to the shop', async (form, record) => {
    const { sandbox, create, post } = open();
    const id = await create();
    expect(await post(`/pay/${id}`, form as never)).toMatchObject({ status: 303, location: returnUrl });
    expect(sandbox.payments[0]).toMatchObject(record);
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(form.act === 'abandon' ? 0 : 1);
  });

  it('of a payment that is final moves nothing any more', async () => {
    const { sandbox, create, post } = open();
    const id = await create();
    await post(`/pay/${id}`, { act: 'pay' });
    // A second click goes where the first one led.
    for (const form of [{ act: 'cvv' }, { act: 'submit', number: '1' }, { act: 'submit', code: '1' }]) {
      expect(await post(`/pay/${id}`, form as never)).toMatchObject({ status: 303, location: returnUrl });
    }
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
  });

  it('is captured in the test controls after it was authorised, and asks the customer for nothing more', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create();
    await post(`/pay/${id}`, { act: 'authorize' });
    const { text } = await get(`/pay/${id}`);
    expect(titleOf(text)).toBe('Payment approved: 25.50 EUR · Your shop');
    expect(text).not.toContain('Authorise first');
    expect(text).not.toContain('name="number"');
    expect(text).toContain('Capture: the shop takes the money');
    await post(`/pay/${id}`, { act: 'pay' });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
  });

  it('of a withdrawal there is none', async () => {
    const { create, get, post } = open();
    const id = await create({ paymentType: 'WITHDRAWAL', paymentMethod: 'PAYID' });
    const statuses = [get(`/pay/${id}`), post(`/pay/${id}`, { act: 'pay' }), get(`/pay/${id}/live`)];
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  it('is missed by name, and takes no act but its own', async () => {
    const { create, get, post } = open();
    expect((await get(`/pay/${OTHER_ID}`)).status).toBe(404);
    expect((await post(`/pay/${OTHER_ID}`, { act: 'pay' })).status).toBe(404);
    for (const act of ['refund', '', 'constructor', '__proto__']) {
      expect((await post(`/pay/${await create()}`, { act })).status).toBe(422);
    }
  });

  it('cannot be paid from another site', async () => {
    const { sandbox, create, post } = open();
    const id = await create();
    expect((await post(`/pay/${id}`, { act: 'pay' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'PENDING' });
  });

  it.each([
    ['JPY', 1000, '1,000 JPY'],
    ['KWD', 1.5, '1.500 KWD'],
    ['A'.repeat(300), 5, '5.00 AAAAAAAA…'],
  ])('writes an amount of %s as it is written', async (currency, amount, text) => {
    const { create, get } = open();
    for (const paymentMethod of ['CARD', 'USER_CHOICE', 'MULTIBANCO', 'PAYID', 'IDEAL', 'BLIK', 'ONRAMP_PIX']) {
      const page = (await get(`/pay/${await create({ currency, amount, paymentMethod })}`)).text;
      expect(page).toContain(`>${text}</h1>`);
      expect(page).not.toContain('A'.repeat(20));
    }
  });
});

describe('the outcome', () => {
  it.each([
    ['complete', {}, 'Payment complete', 'Thank you.', 'Paid with Card'],
    ['fail', { code: 4004 }, 'Payment declined', 'not enough money', 'Reason Insufficient balance'],
    ['fail', { code: 4001 }, 'Payment declined', 'security code', 'Reason CVV error'],
    ['fail', { code: 4018 }, 'Payment canceled', 'You canceled', 'Reason Canceled by the user'],
    ['fail', { reason: 'Payment not funded' }, 'Payment expired', 'in time', 'Reason Payment not funded'],
    ['fail', { reason: 'Do not honour' }, 'Payment declined', 'Nothing was charged.', 'Reason Do not honour'],
    ['fail', {}, 'Payment declined', 'could not be made', 'Back to the shop'],
    ['cancel', {}, 'Payment canceled', 'Nothing was charged.', 'Back to the shop'],
    ['authorize', {}, 'Payment approved', 'reserved', 'Paid with Card'],
  ] as const)('of %s %j says so in the words of a customer', async (move, options, title, ...words) => {
    const { sandbox, create, get } = open();
    const id = await create();
    await sandbox[move](id, options);
    const { text } = await get(`/pay/${id}`);
    expect(titleOf(text)).toBe(`${title}: 25.50 EUR · Your shop`);
    for (const word of words) expect(shownOf(text)).toContain(word);
    expect(shownOf(text)).not.toMatch(/PENDING|COMPLETED|FAILED|CANCELED|AUTHORIZED|\brecord\b/);
    expect(text).toContain(`<a class="main" href="${returnUrl}">Back to the shop</a>`);
    if (move !== 'authorize') expect(text).not.toContain('name="act"');
  });

  it('stays where it is without a returnUrl', async () => {
    const { create, get, post } = open();
    const id = await create({ returnUrl: null });
    expect(await post(`/pay/${id}`, { act: 'cvv' })).toMatchObject({ location: `/pay/${id}` });
    expect((await get(`/pay/${id}`)).text).not.toContain('Back to the shop');
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
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    'blob:https://shop.example/1',
    'filesystem:https://shop.example/1',
    'view-source:https://shop.example/',
    'about:blank',
  ])('shows %s, says why, and does not lead there', async address => {
    const { create, get, post } = open();
    const id = await create({ returnUrl: address });
    expect(await post(`/pay/${id}`, { act: 'pay' })).toMatchObject({ location: `/pay/${id}` });
    const { text } = await get(`/pay/${id}`);
    expect(shownOf(asText(text))).toContain(
      `The shop's return address is not followed: it is neither a web page nor an app. ${address}`,
    );
    expect(text).not.toMatch(/href="(?:file|blob|filesystem|view-source|about):/i);
    expect(text).not.toContain('Back to the shop');
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'vbscript:x'])(
    'meets no %s: a create refuses it',
    async address => {
      const { sandbox, create } = open();
      await expect(create({ returnUrl: address })).rejects.toThrow('returnUrl');
      expect(sandbox.payments).toEqual([]);
    },
  );
});

describe('the card form', () => {
  it.each([
    ['4242 4242 4242 4242', '123', { paymentStatus: 'COMPLETED' }],
    ['4242424242424242', '123', { paymentStatus: 'COMPLETED' }],
    ['5555-5555-5555-4444', '000', { paymentStatus: 'COMPLETED' }],
    ['3782 822463 10005', '1234', { paymentStatus: 'COMPLETED' }],
    ['4000 0025 0000 3155', '123', { paymentStatus: 'AUTHORIZED' }],
    ['4000 0000 0000 0127', '123', { paymentStatus: 'FAILED', errorMessage: 'CVV error' }],
    ['4000 0000 0000 9995', '123', { paymentStatus: 'FAILED', errorMessage: 'Insufficient balance' }],
    ['4000 0000 0000 3220', '123', { paymentStatus: 'FAILED', errorMessage: 'Canceled by the user' }],
    ['4000 0000 0000 0341', '123', { paymentStatus: 'FAILED', errorMessage: 'Payment not funded' }],
  ])('with %s ends as %j', async (number, cvv, record) => {
    const { sandbox, create, post } = open({ now });
    expect(await post(`/pay/${await create()}`, { ...VISA, number, cvv })).toMatchObject({
      status: 303,
      location: returnUrl,
    });
    expect(sandbox.payments[0]).toMatchObject(record);
  });

  it.each([
    ['number', '', 'Enter the card number.'],
    ['number', '4242 4242 4242 4241', 'This card number is not complete, or has a typing error.'],
    ['number', '4242', 'This card number is not complete, or has a typing error.'],
    ['number', 'card', 'This card number is not complete, or has a typing error.'],
    // Luhn-valid, and nobody's test number.
    ['number', '4539 5787 6362 1486', 'Test page: never type a real card.'],
    ['expiry', '', 'Enter the expiry date.'],
    ['expiry', '13 / 29', 'Write the expiry date as month and year, such as 08 / 30.'],
    ['expiry', 'soon', 'Write the expiry date as month and year, such as 08 / 30.'],
    ['expiry', '10 / 26', 'This card has expired.'],
    ['expiry', '12/2025', 'This card has expired.'],
    ['cvv', '', 'Enter the security code.'],
    ['cvv', '12', 'The security code has 3 digits.'],
    ['cvv', '1234', 'The security code has 3 digits.'],
    ['cvv', 'abc', 'The security code has 3 digits.'],
    ['holder', ' ', 'Enter the name on the card.'],
  ])('with the %s %j asks again, beside the field', async (name, value, problem) => {
    const { sandbox, create, post } = open({ now });
    const { status, text } = await post(`/pay/${await create()}`, { ...VISA, [name]: value });
    expect(status).toBe(422);
    expect(text).toContain(`<p class="error" id="${name}-error">${problem}</p>`);
    const input = new RegExp(`<input id="${name}"[^>]*>`).exec(text)?.[0];
    expect(input).toMatch(new RegExp(`aria-describedby="${name}-error" aria-invalid="true"`));
    expect(input).toContain('autofocus');
    expect(text.match(/class="error"/g)).toHaveLength(1);
    expect(titleOf(text)).toBe('Please check: 25.50 EUR · Your shop');
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'PENDING' });
  });

  it.each(['11 / 26', '11/26', '1126', '11/2026'])('takes a card that is good to the end of %s', async expiry => {
    const { sandbox, create, post } = open({ now });
    await post(`/pay/${await create()}`, { ...VISA, expiry });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
  });

  it('asks for the four digits of an American Express card', async () => {
    const { create, post } = open({ now });
    const { text } = await post(`/pay/${await create()}`, { ...VISA, number: '378282246310005' });
    expect(text).toContain('The security code has 4 digits.');
  });

  it('sends back what was typed, but no code, and no number that is not a test number', async () => {
    const { create, post } = open({ now });
    const id = await create();
    const test = (await post(`/pay/${id}`, { ...VISA, holder: '', cvv: '987' })).text;
    expect(test).toMatch(/id="number"[^>]*value="4242 4242 4242 4242"/);
    expect(test).toMatch(/id="expiry"[^>]*value="12 \/ 29"/);
    const real = (await post(`/pay/${id}`, { ...VISA, number: '4539578763621486', cvv: '987' })).text;
    for (const text of [test, real]) expect(text.replaceAll(id, '')).not.toContain('987');
    expect(real.replaceAll(id, '')).not.toContain('4539');
  });

  it('leaves no card number anywhere in the sandbox', async () => {
    const events: unknown[] = [];
    const { sandbox, create, get, post } = open({ now, onEvent: event => events.push(event) });
    const id = await create();
    await post(`/pay/${id}`, { ...VISA, number: '4539578763621486' });
    await post(`/pay/${id}`, { ...VISA, number: '4000 0000 0000 0127' });
    await sandbox.idle();
    const seen = [
      events,
      sandbox.payments,
      sandbox.deliveries,
      (await get('/')).text,
      (await get(`/payments/${id}`)).text,
    ];
    expect(JSON.stringify(seen).replace(/[\s-]/g, '')).not.toMatch(/4539578763621486|4000000000000127/);
  });

  it('is filled in by the test controls, without a script', async () => {
    const { create, get } = open({ now });
    const { text } = await get(`/pay/${await create()}?test=4000+0000+0000+9995`);
    expect(text).toMatch(/id="number"[^>]*value="4000 0000 0000 9995"/);
    expect(text).toMatch(/id="expiry"[^>]*value="12 \/ 29"/);
    expect(text).toMatch(/id="cvv"[^>]*value="123"/);
    expect(text).toMatch(/id="holder"[^>]*value="Alex Example"/);
  });

  it('of Bancontact has no code, and its own test number', async () => {
    const { sandbox, create, get, post } = open({ now });
    const id = await create({ paymentMethod: 'BANCONTACT' });
    expect((await get(`/pay/${id}?step=card`)).text).not.toContain('id="cvv"');
    const wrong = await post(`/pay/${id}`, { ...VISA });
    expect(wrong).toMatchObject({ status: 422, text: expect.stringContaining('id="number-error"') });
    await post(`/pay/${id}`, { ...VISA, number: '6703 4444 4444 4449', cvv: '' });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
  });
});

describe('the wallets', () => {
  it.each([
    ['APPLEPAY', 'Apple Pay', 'Pay with passcode'],
    ['GOOGLEPAY', 'Google Pay', 'Pay 25.50 EUR'],
  ])('%s shows its button, then its sheet', async (paymentMethod, name, button) => {
    const { create, get } = open();
    const id = await create({ paymentMethod, reference: null, billingAddress: { countryCode: 'US' } });
    const first = (await get(`/pay/${id}`)).text;
    expect(first).toContain(`href="/pay/${id}?step=confirm">Buy with ${name}</a>`);
    const sheet = wordsOf((await get(`/pay/${id}?step=confirm`)).text);
    for (const words of [name, '•••• 4242', '25.50 EUR', button]) expect(sheet).toContain(words);
  });
});

describe('the BLIK page', () => {
  const blik = { paymentMethod: 'BLIK', currency: 'PLN', amount: 149 };

  it('asks for a code, then for a confirmation in the app', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create(blik);
    expect(shownOf((await get(`/pay/${id}`)).text)).toContain('BLIK code');
    const next = await post(`/pay/${id}`, { act: 'submit', code: '777 123' });
    expect(next).toMatchObject({ status: 303, location: `/pay/${id}?step=confirm` });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'PENDING' });
    const confirm = shownOf((await get(`/pay/${id}?step=confirm`)).text);
    for (const words of ['Confirm in your banking app', '149.00 PLN', 'Approve', 'Reject'])
      expect(confirm).toContain(words);
  });

  it.each(['', '12345', '1234567', 'abcdef'])('refuses the code %j', async code => {
    const { create, post } = open();
    const { status, text } = await post(`/pay/${await create(blik)}`, { act: 'submit', code });
    expect([status, text]).toEqual([422, expect.stringContaining('id="code-error">A BLIK code has six digits.</p>')]);
  });

  it.each([
    ['400400', 'Insufficient balance'],
    ['401800', 'Canceled by the user'],
    ['999999', 'Payment not funded'],
  ])('declines the code %s: %s', async (code, errorMessage) => {
    const { sandbox, create, post } = open();
    expect(await post(`/pay/${await create(blik)}`, { act: 'submit', code })).toMatchObject({ location: returnUrl });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'FAILED', errorMessage });
  });
});

describe('the bank pages', () => {
  it.each(['IDEAL', 'BANCONTACT', 'EPS', 'P24', 'ONRAMP_PSE', 'ONRAMP_KHIPU', 'ONRAMP_ZAR', 'ONRAMP_OPENBANKING'])(
    'of %s let the customer choose a bank, and consent there',
    async paymentMethod => {
      const { create, get } = open({ shopName: 'Nordlicht' });
      const id = await create({ paymentMethod, description: 'Two tickets' });
      const list = (await get(`/pay/${id}`)).text;
      const banks = [...list.matchAll(/name="bank" value="([^"]+)"/g)].map(([, bank = '']) => asText(bank));
      expect(banks.length).toBeGreaterThanOrEqual(4);
      for (const bank of banks) {
        const { text } = await get(`/pay/${id}?${new URLSearchParams({ bank })}`);
        expect(asText(titleOf(text) ?? '')).toBe(`Approve 25.50 EUR · ${bank}`);
        for (const words of [bank, 'To Nordlicht', 'For Two tickets', 'Approve', 'Cancel payment']) {
          expect(asText(wordsOf(text))).toContain(words);
        }
      }
      expect(shownOf((await get(`/pay/${id}?bank=Nobody`)).text)).not.toContain('Approve');
    },
  );

  it('are where an NFT is paid by open banking', async () => {
    const { gateway, get } = open();
    const { payment } = await gateway.createNftPurchase({
      paymentMethod: 'OPENBANKING',
      amount: 10,
      currency: 'GBP',
      webhookUrl: 'https://shop.example/callbacks',
    });
    expect((await get(`/pay/${payment.id}`)).text).toContain('name="bank"');
  });

  // The largest banks of these countries, as their central banks list them.
  it('name no real bank', async () => {
    const { create, get } = open();
    for (const paymentMethod of [
      'IDEAL',
      'BANCONTACT',
      'EPS',
      'P24',
      'ONRAMP_OPENBANKING',
      'ONRAMP_ZAR',
      'ONRAMP_PSE',
    ]) {
      const words = shownOf((await get(`/pay/${await create({ paymentMethod })}`)).text);
      expect(words).not.toMatch(
        /\b(ING|Rabobank|ABN|AMRO|bunq|KBC|BNP|Belfius|Erste|Raiffeisen|BAWAG|PKO|Pekao|mBank|Santander|Barclays|HSBC|Lloyds|NatWest|Monzo|Revolut|Absa|Nedbank|Capitec|Bancolombia|Davivienda|BBVA)\b/,
      );
    }
  });
});

describe('pages of details to copy', () => {
  it('Multibanco shows an entity of five digits and a reference of nine, and until when', async () => {
    const { sandbox, create, get, post } = open({ now: () => Date.UTC(2026, 10, 22, 23, 30) });
    const id = await create({ paymentMethod: 'MULTIBANCO' });
    const { text } = await get(`/pay/${id}`);
    expect(shownOf(text)).toMatch(/Entity \d{5} Copy Reference \d{3} \d{3} \d{3} Copy Amount 25\.50 EUR/);
    expect(text).toMatch(/data-copy="\d{9}"/);
    expect(text).toContain('<time datetime="2026-11-25T23:30:00.000Z">25 November 2026 at 23:30 UTC</time>');
    expect((await get(`/pay/${id}`)).text).toBe(text);
    await post(`/pay/${id}`, { act: 'pay' });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
  });

  it('PayID shows the instructions that the create has answered', async () => {
    const { gateway, get, post, sandbox } = open();
    const { payment, nextAction } = await gateway.createDeposit({
      paymentMethod: 'PAYID',
      amount: '80.00',
      currency: 'AUD',
      webhookUrl: 'https://shop.example/callbacks',
    });
    if (nextAction.type !== 'transfer') throw new Error('no transfer');
    const { text } = await get(`/pay/${payment.id}`);
    const { number, full_holder_name, payment_description, amount } = nextAction.transfer;
    for (const word of [number, full_holder_name, payment_description, `${amount} AUD`]) {
      expect(shownOf(text)).toContain(word);
    }
    expect(asText(text)).toContain("I've sent the transfer");
    await post(`/pay/${payment.id}`, { act: 'pay' });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
  });

  it('PayID is where the customer goes on a terminal that redirects', async () => {
    const { gateway } = open({ payid: 'redirect' });
    const { payment, nextAction } = await gateway.createDeposit({
      paymentMethod: 'PAYID',
      amount: 80,
      currency: 'AUD',
      webhookUrl: 'https://shop.example/callbacks',
    });
    expect(nextAction).toEqual({ type: 'redirect', redirectUrl: `${HERE}/pay/${payment.id}` });
  });

  it.each([
    ['ONRAMP_GBPBANKTRANSFER', 'GBP', /Sort code 00-00-00 Copy Account number \d{8} Copy Amount 540\.00 GBP/],
    ['ONRAMP_SPEI', 'MXN', /CLABE \d{18} Copy Amount 540\.00 MXN/],
    ['ONRAMP_INTERAC', 'CAD', /E-mail pay-[\da-f]{8}@sandbox\.example Copy Amount 540\.00 CAD/],
    ['ONRAMP_PAYID', 'AUD', /PayID pay-[\da-f]{8}@sandbox\.example/],
  ])('%s shows where to transfer', async (paymentMethod, currency, details) => {
    const { create, get } = open();
    expect(shownOf((await get(`/pay/${await create({ paymentMethod, currency, amount: 540 })}`)).text)).toMatch(
      details,
    );
  });

  it.each([
    ['ONRAMP_PIX', 'BRL', /sandbox:[\da-f-]{36}\?amount=540\.00&amp;currency=BRL/],
    ['ONRAMP_QRTHWALLET', 'THB', /sandbox:[\da-f-]{36}\?amount=540\.00&amp;currency=THB/],
  ])('%s shows a code to scan or to copy', async (paymentMethod, currency, payload) => {
    const { create, get } = open({ seed: 'qr' });
    const { text } = await get(`/pay/${await create({ paymentMethod, currency, amount: 540 })}`);
    expect(text).toContain('role="img" aria-label="QR code of the payment"');
    expect(shownOf(text)).toMatch(payload);
  });
});

describe('the on-ramp widget', () => {
  it.each([
    ['BRL', ['PIX', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['ZAR', ['ZAR', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['COP', ['PSE', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['CLP', ['KHIPU', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['THB', ['QRTHWALLET', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['CAD', ['INTERAC', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['MXN', ['SPEI', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['AUD', ['PAYID', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['EUR', ['OPENBANKING', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['gbp', ['OPENBANKING', 'GBPBANKTRANSFER', 'CARD', 'APPLEPAY', 'GOOGLEPAY']],
    ['JPY', ['CARD', 'APPLEPAY', 'GOOGLEPAY']],
  ])('offers for %s what takes it', async (currency, methods) => {
    const { create, get } = open();
    for (const paymentMethod of ['USER_CHOICE', 'ONRAMP']) {
      const { text } = await get(`/pay/${await create({ paymentMethod, currency, amount: 540 })}`);
      const offered = [...text.matchAll(/name="method" value="ONRAMP_(\w+)"/g)].map(([, method]) => method);
      expect(offered).toEqual(methods);
    }
  });

  it('shows the rate, the crypto and the wallet before and after paying', async () => {
    const { sandbox, create, get, post } = open();
    const additionalParameters = { destination_wallet: '0x71c7' };
    const id = await create({ paymentMethod: 'USER_CHOICE', amount: 540, currency: 'BRL', additionalParameters });
    const receipt = '99.49698745 USDT Rate 1 USDT = 5.4273 BRL Wallet 0x71c7';
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
  });

  it('promises no crypto once the payment is declined', async () => {
    const { sandbox, create, get } = open();
    const id = await create({ paymentMethod: 'ONRAMP_PIX', currency: 'BRL' });
    await sandbox.fail(id);
    expect(shownOf((await get(`/pay/${id}`)).text)).not.toMatch(/You receive|USDT/);
  });

  it('carries the choice through every form, and lets the customer choose again', async () => {
    const { sandbox, create, get, post } = open({ now });
    const id = await create({ paymentMethod: 'USER_CHOICE', currency: 'BRL' });
    const { text } = await get(`/pay/${id}?method=ONRAMP_CARD`);
    expect(text.match(/<form/g)?.length).toBe(text.match(/name="method" value="ONRAMP_CARD"/g)?.length);
    expect(text).toContain(`href="/pay/${id}">`);
    const wrong = await post(`/pay/${id}`, { ...VISA, cvv: '', method: 'ONRAMP_CARD' });
    expect(wrong.text).toContain('name="method" value="ONRAMP_CARD"');
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'USER_CHOICE' });
    await post(`/pay/${id}`, { ...VISA, method: 'ONRAMP_CARD' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'ONRAMP_CARD', paymentStatus: 'COMPLETED' });
  });

  it('of ONRAMP lets the customer choose as well, and keeps its name', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create({ paymentMethod: 'ONRAMP', currency: 'BRL' });
    expect((await get(`/pay/${id}?method=ONRAMP_PIX`)).text).toContain('class="qr"');
    await post(`/pay/${id}`, { act: 'pay', method: 'ONRAMP_PIX' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'ONRAMP', paymentStatus: 'COMPLETED' });
  });

  it('of a pinned method offers no other', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create({ paymentMethod: 'ONRAMP_SPEI', currency: 'MXN' });
    const { text } = await get(`/pay/${id}?method=ONRAMP_CARD`);
    expect(text).toContain('CLABE');
    expect(text).not.toContain('name="method"');
    await post(`/pay/${id}`, { act: 'pay', method: 'ONRAMP_CARD' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'ONRAMP_SPEI' });
  });

  it('keeps the choice of a customer who declines, and none after the end', async () => {
    const { sandbox, create, post } = open();
    const id = await create({ paymentMethod: 'USER_CHOICE' });
    for (const act of ['bogus', 'abandon']) await post(`/pay/${id}`, { act, method: 'ONRAMP_CARD' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'USER_CHOICE' });
    await post(`/pay/${id}`, { act: 'cvv', method: 'ONRAMP_OPENBANKING' });
    await post(`/pay/${id}`, { act: 'pay', method: 'ONRAMP_CARD' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'ONRAMP_OPENBANKING', paymentStatus: 'FAILED' });
  });

  it.each(['SEPA', 'CARD', 'ONRAMP_PIX', 'USER_CHOICE'])('takes no choice that it does not offer: %s', async method => {
    const { sandbox, create, get, post } = open();
    const id = await create({ paymentMethod: 'USER_CHOICE' });
    expect(shownOf((await get(`/pay/${id}?method=${method}`)).text)).toContain('How do you want to pay?');
    await post(`/pay/${id}`, { act: 'pay', method });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'USER_CHOICE', paymentStatus: 'COMPLETED' });
  });
});

describe('the test controls', () => {
  it('say that customers do not see them, and hold every outcome', async () => {
    const { create, get } = open();
    const id = await create();
    const aside = /<aside[\s\S]*<\/aside>/.exec((await get(`/pay/${id}`)).text)?.[0] ?? '';
    const words = wordsOf(aside);
    expect(words).toContain('Test controls your customers do not see this');
    for (const word of ['Pay at once', 'Authorise first', 'Let it expire', 'Abandon: leave without paying']) {
      expect(words).toContain(word);
    }
    for (const act of ['insufficient-balance', 'cvv', 'canceled', 'not-funded'])
      expect(aside).toContain(`name="act" value="${act}"`);
    expect(aside).toContain(`href="/payments/${id}"`);
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
  ])('offer to authorise %s first: %s', async (paymentMethod, isOffered) => {
    const { create, get } = open();
    const { text } = await get(`/pay/${await create({ paymentMethod })}`);
    expect(text.includes('Authorise first')).toBe(isOffered);
  });

  it('of a payment that is final only lead to the dashboard', async () => {
    const { sandbox, create, get } = open();
    const id = await create();
    await sandbox.complete(id);
    const aside = /<aside[\s\S]*<\/aside>/.exec((await get(`/pay/${id}`)).text)?.[0] ?? '';
    expect(aside).not.toContain('<form');
    expect(aside).toContain(`href="/payments/${id}"`);
  });
});

describe('a page that is open', () => {
  it('hears of its own payment alone, of a reset, and no more once it has gone', async () => {
    const { sandbox, create } = open();
    const id = await create();
    const other = await create({ reference: 'a-secret-of-another' });
    const response = await sandbox.fetch(`${HERE}/pay/${id}/live`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe(': hello\n\n');
    await sandbox.complete(other);
    await sandbox.complete(id);
    expect(await next()).toBe('data: Payment complete\n\n');
    sandbox.reset();
    expect(await next()).toBe('data: \n\n');
    await reader.cancel();
    await create();
  });
});
