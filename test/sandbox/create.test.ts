// The dashboard's form that creates a payment, without a browser. test/outside runs its code.
import { describe, expect, it } from 'vitest';
import { asText, HERE, openPages as open } from '../support/pages.ts';

const CARD = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '12.5', currency: 'EUR', reference: 'order-9' };
const FORM = { ...CARD, webhookUrl: 'http://127.0.0.1:3000/callbacks' };

/** The code of the page in one language. */
const codeIn = (page: string, language: string) =>
  asText(new RegExp(`id="create-${language}"[^>]*><code>([^<]*)`).exec(page)?.[1] ?? '');
const optionsOf = (page: string) =>
  [...(/<select id="paymentMethod".*?<\/select>/s.exec(page)?.[0] ?? '').matchAll(/<option *(selected)?>(\w+)/g)].map(
    ([, selected, name]) => (selected ? `(${name})` : name),
  );

describe('the form that creates a payment', () => {
  it('makes the payment of a newcomer as a merchant would, and leads to it', async () => {
    const { sandbox, get, post } = open();
    expect((await get('/')).text).toContain('<form method="post" action="/create"');
    const { status, location } = await post('/create', FORM);
    const [payment] = sandbox.payments;
    expect([status, location]).toEqual([303, `/payments/${payment?.id}`]);
    expect(payment).toMatchObject({ ...CARD, amount: 12.5, paymentStatus: 'PENDING' });
    expect(sandbox.calls).toMatchObject([{ method: 'POST', path: '/api/v1/payments', answer: { status: 201 } }]);
    expect((await get('/')).text).toContain('href="/create"');
    expect((await get('/create')).words).toContain(`PAYMENT_GATEWAY_URL=${HERE}`);
  });

  it('posts the callback to its address, also under --forward-to, which is the address that it proposes', async () => {
    const forwardTo = 'http://127.0.0.1:4000/hooks';
    const { sandbox, get, post } = open({ forwardTo });
    expect((await get('/')).text).toContain(`name="webhookUrl" value="${forwardTo}"`);
    await post('/create', FORM);
    await sandbox.complete(sandbox.payments[0]?.id ?? '');
    await sandbox.idle();
    expect(sandbox.deliveries).toMatchObject([{ url: FORM.webhookUrl }]);
  });

  it.each([
    [{ currency: 'e' }, 'currency: must be a currency code such as "EUR"'],
    [{ amount: '' }, 'amount: The amount must be a number.'],
    [{ paymentMethod: 'SEPA' }, 'paymentMethod: is not a method of this call'],
    [{ webhookUrl: 'nowhere' }, 'webhookUrl: must be an absolute http(s) URL'],
  ])('with %j shows the refusal of the gateway', async (wrong, words) => {
    const { sandbox, post } = open();
    const refused = await post('/create', { ...FORM, ...wrong });
    expect(refused.status).toBe(422);
    expect(refused.words).toContain('The gateway refuses the create: The given data was invalid.');
    expect(refused.words).toContain(words);
    expect(sandbox.payments).toEqual([]);
  });

  it('says that a fault broke the answer', async () => {
    const { sandbox, post } = open();
    sandbox.faults.next('commit-then-drop', { reference: 'order-9' });
    const words = expect.stringContaining('a fault is armed for its reference. Its payment may exist.');
    expect(await post('/create', FORM)).toMatchObject({ status: 422, words });
  });

  it.each([
    ['standard', 'DEPOSIT', 'BLIK', ['APPLEPAY', '(BLIK)']],
    ['onramp', 'DEPOSIT', 'ONRAMP_PIX', ['APPLEPAY', '(ONRAMP_PIX)']],
    ['standard', 'WITHDRAWAL', 'BLIK', ['(PAYID)', 'SEPA', 'FPS', 'CARD']],
    ['standard', 'DEPOSIT', 'ONRAMP_PIX', ['(APPLEPAY)']],
  ] as const)('on a %s terminal offers the methods of a %s, and each makes a payment', async (...row) => {
    const [terminal, paymentType, paymentMethod, some] = row;
    const { sandbox, get, post } = open({ terminal: terminal as 'onramp' });
    const options = optionsOf((await get(`/create?${new URLSearchParams({ paymentType, paymentMethod })}`)).text);
    expect(options).toEqual(expect.arrayContaining([...some]));
    const methods = options.map(name => name?.replace(/[()]/g, '') ?? '');
    for (const paymentMethod of methods) await post('/create', { ...FORM, paymentType, paymentMethod });
    expect(sandbox.payments.map(payment => payment.paymentMethod)).toEqual(methods);
  });

  it('shows what its address holds, also as code, and leaves out an empty field', async () => {
    const { get } = open();
    const attack = `<script>alert(1)</script>"'`;
    const query = new URLSearchParams({ ...FORM, amount: '7', reference: attack, notice: '1', other: 'x' });
    const { text } = await get(`/create?${query}`);
    expect(text).not.toContain('<script>alert');
    const shown = { ...FORM, amount: 7, reference: attack };
    expect(codeIn(text, 'node')).toContain(`const payment = ${JSON.stringify(shown, null, 2)};`);
    expect(codeIn(text, 'php')).toContain(`'reference' => '<script>alert(1)</script>"\\'',`);
    query.set('reference', '');
    expect(codeIn((await get(`/create?${query}`)).text, 'python')).not.toContain('reference');
  });
});
