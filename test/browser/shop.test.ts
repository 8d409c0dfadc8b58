// examples/shop, started unchanged: a customer buys, an operator decides, and the sandbox injects faults.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { GatewayClient } from 'payment-gateway-sdk';
import type { FaultOptions } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { faultsOf, overflowOf } from '../support/axe.ts';
import { hasChromium, openBrowser, strangersOf } from '../support/browser.ts';
import { isShopInstalled, shopFolder } from '../support/install.ts';
import { freePorts } from '../support/ports.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const schema = uniqueName('shop');

/** Starts the shop in a separate process, on the SDK's source. */
function start(env: NodeJS.ProcessEnv) {
  const hooks = new URL('../support/shop-from-source.mjs', import.meta.url).href;
  const { PAYMENT_GATEWAY_URL: _, DATABASE_URL: __, ...rest } = process.env;
  return spawn(process.execPath, ['--no-warnings', '--import', hooks, 'server.ts'], {
    cwd: shopFolder,
    env: { ...rest, NODE_ENV: '', DATABASE_SCHEMA: schema, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Starts a shop, and waits until it takes calls. */
async function open(env: NodeJS.ProcessEnv = {}) {
  const [port] = await freePorts(1);
  const child = start({ PORT: String(port), ...env });
  let printed = '';
  const started = Promise.withResolvers<string>();
  child.once('exit', () => started.reject(new Error(printed)));
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', data => {
      printed += data;
      const url = /^Sandbox +(\S+)$/m.exec(printed)?.[1];
      if (url) started.resolve(url);
    });
  }
  const sandbox = await started.promise;
  return { child, shop: `http://127.0.0.1:${port}`, sandbox, printed: () => printed };
}

/** Returns the message of a shop that does not start. */
async function refusal(env: NodeJS.ProcessEnv) {
  const child = start(env);
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { said, code };
}

interface SandboxPayment {
  id: string;
  amount: number;
  currency: string;
  paymentStatus: string;
  paymentMethod: string;
}

const isMissing = lacks(
  hasChromium && hasPostgres && isShopInstalled(),
  'examples/shop: no Chromium, no PostgreSQL at 127.0.0.1:5432, or no registry to install it from',
);

describe.skipIf(isMissing)('the shop', () => {
  let child: ReturnType<typeof start>;
  let shop: string;
  let sandbox: string;
  let printed: () => string;
  let pool: pg.Pool;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  let strangers: string[];

  beforeAll(async () => {
    pool = postgresPool({ options: `-c search_path=${schema}` });
    ({ child, shop, sandbox, printed } = await open());
    browser = await openBrowser();
  }, 30_000);
  afterAll(async () => {
    child.kill();
    await browser.close();
    await pool.query(`drop schema if exists ${schema} cascade`);
    await pool.end();
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    page = await context.newPage();
    page.setDefaultTimeout(8_000);
    strangers = strangersOf(page, [shop, sandbox]);
    complaints = [];
    page.on('pageerror', error => complaints.push(error.message));
    page.on('console', message => {
      // Chromium logs the status of a page that explains a refusal.
      if (message.type() === 'error' && !/40[149] \(/.test(message.text())) complaints.push(message.text());
    });
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
    expect(strangers).toEqual([]);
  });

  /** The sandbox's own API. */
  async function control<T = unknown>(path: string, body?: object): Promise<T> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${sandbox}/_sandbox${path}`, body && init);
    expect([path, response.status]).toEqual([path, response.ok ? response.status : 'ok']);
    return (await response.json()) as T;
  }
  const fault = (name: string, options: FaultOptions = {}) => control('/faults', { fault: name, ...options });
  /** A fault of the create of the next order. Without its reference a late payout could meet the fault. */
  const faultOfNext = async (name: string) => {
    const { rows } = await pool.query('select last_value + is_called::int as number from order_number');
    return fault(name, { reference: `tea-${rows[0].number}.1` });
  };
  const move = (id: string, how: object) => control(`/payments/${id}/moves`, how);
  const paymentsOf = async (reference: string) =>
    (await control<{ payments: SandboxPayment[] }>(`/payments?reference=${reference}`)).payments;
  const arrived = (reference: string) => control<SandboxPayment>(`/wait?reference=${reference}&timeout=8000`);
  const settled = (reference: string, status: string) =>
    control(`/wait?reference=${reference}&paymentStatus=${status}&isAnswered=true&timeout=8000`);
  const complete = (id: string) => move(id, { move: 'complete' });

  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const heading = (name: string) => page.getByRole('heading', { name, exact: true });
  const sees = (name: string) => heading(name).waitFor();

  /** Presses "Buy", and follows. @returns the order's id */
  async function buy(currency: string, method: string, product = 'Sencha'): Promise<string> {
    await page.goto(`${shop}/?currency=${currency}`);
    await page.getByLabel(product).check();
    await page.getByLabel(method, { exact: true }).check();
    await button('Buy').click();
    const { rows } = await pool.query('select id from orders order by created_at desc limit 1');
    return rows[0].id;
  }
  const orderOf = async (id: string) => (await pool.query('select * from orders where id = $1', [id])).rows[0];
  /** The payouts of an order, oldest first. */
  const payoutsOf = async (id: string): Promise<{ reference: string; state: string }[]> => {
    const text = 'select reference, state from payouts where order_id = $1 order by created_at, reference';
    return (await pool.query(text, [id])).rows;
  };
  /** Waits for the first payout of an order at the gateway. */
  const payoutOf = async (id: string) => arrived((await payoutsOf(id))[0]?.reference ?? '');
  const openOrder = async (id: string) => page.goto(`${shop}/orders/${(await orderOf(id)).key}`);
  const receipts = (id: string) =>
    printed()
      .split('\n')
      .filter(line => line === `Receipt of order ${id}`).length;

  async function payByCard(number: string) {
    await page.getByLabel('Card number').fill(number);
    await page.getByLabel('Expiry date').fill('12 / 48');
    await page.getByLabel('Security code').fill('123');
    await page.getByLabel('Name on card').fill('Alex Example');
    await button(/^Pay /).click();
  }
  /** Without the customer's page. @returns the order's id */
  async function buyAndPay(): Promise<string> {
    const id = await buy('EUR', 'Card');
    await complete((await arrived(`${id}.1`)).id);
    await settled(`${id}.1`, 'COMPLETED');
    return id;
  }
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = { origin: shop }) =>
    fetch(shop + path, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });
  const basic = (password: string) => `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;

  const payAgain = (reference: string) =>
    post('/operator/payouts', { reference }, { origin: shop, authorization: basic('operator') });
  /** Reloads the operator's page until it shows a row. */
  const showsRow = (name: string) =>
    expect
      .poll(async () => {
        await page.reload();
        return page.getByRole('row', { name }).count();
      })
      .toBe(1);

  async function openOperator() {
    await context.setExtraHTTPHeaders({ authorization: basic('operator') });
    await page.goto(`${shop}/operator`);
  }

  it('is paid by card and credited once, with one receipt, though the callback comes twice', async () => {
    await page.goto(shop);
    expect(await faultsOf(page)).toEqual([]);
    await fault('callback-duplicate');
    const id = await buy('EUR', 'Card');
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    expect(await faultsOf(page)).toEqual([]);
    await settled(`${id}.1`, 'COMPLETED');
    expect(await paymentsOf(`${id}.1`)).toMatchObject([{ amount: 12.5, currency: 'EUR', paymentStatus: 'COMPLETED' }]);
    expect(await orderOf(id)).toMatchObject({ is_paid: true });
    expect([receipts(id), (await payoutsOf(id)).length]).toEqual([1, 1]);
  });

  it('after a decline begins a second attempt, by another method, which pays', async () => {
    const id = await buy('EUR', 'Card');
    await payByCard('4000 0000 0000 9995');
    await sees('The payment was not made');
    expect(await faultsOf(page)).toEqual([]);
    await page.getByLabel('iDEAL').check();
    await button('Pay €12.50').click();
    await button('Waterkant Bank').click();
    await button('Approve').click();
    await sees('Thank you, it is paid');
    expect(await paymentsOf(`${id}.1`)).toMatchObject([{ paymentStatus: 'FAILED', paymentMethod: 'CARD' }]);
    expect(await paymentsOf(`${id}.2`)).toMatchObject([{ paymentStatus: 'COMPLETED', paymentMethod: 'IDEAL' }]);
    expect(receipts(id)).toBe(1);
  });

  it('leads a customer who comes back to the open payment, and makes no second one', async () => {
    const id = await buy('PLN', 'BLIK');
    await page.getByLabel('BLIK code').waitFor();
    const open = page.url();
    await openOrder(id);
    await sees('Your payment is not finished');
    expect(await overflowOf(page)).toBe(0);
    const { key } = await orderOf(id);
    const tabs = await Promise.all([1, 2, 3].map(() => post(`/orders/${key}/pay`, { method: 'BLIK' })));
    expect(tabs.map(tab => tab.headers.get('location'))).toEqual([open, open, open]);
    await button('Continue to payment').click();
    await page.getByLabel('BLIK code').waitFor();
    expect(page.url()).toBe(open);
    expect(await paymentsOf(`${id}.1`)).toHaveLength(1);
    expect(await paymentsOf(`${id}.2`)).toHaveLength(0);
  });

  it('is paid once if a customer changes the method and pays both, and the operator closes the review', async () => {
    const id = await buy('EUR', 'Card');
    await openOrder(id);
    await page.getByLabel('iDEAL').check();
    await button('Continue to payment').click();
    await button('Waterkant Bank').click();
    await button('Approve').click();
    await sees('Thank you, it is paid');
    const [first] = await paymentsOf(`${id}.1`);
    await complete(first?.id ?? '');
    await settled(`${id}.1`, 'COMPLETED');
    expect([receipts(id), (await payoutsOf(id)).length]).toEqual([1, 1]);
    await openOperator();
    expect(await faultsOf(page)).toEqual([]);
    const row = page.getByRole('row', { name: `${id}.1 ${first?.id} €12.50 already paid` });
    await row.getByRole('button', { name: 'Close' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('says that it is checking after a create without an answer, and its callback pays the order', async () => {
    await faultOfNext('commit-then-drop');
    const id = await buy('EUR', 'Card', 'Assam');
    await sees('We are checking your payment');
    expect(await overflowOf(page)).toBe(0);
    const made = await paymentsOf(`${id}.1`);
    expect(made).toHaveLength(1);
    await button('Check again').click();
    await sees('We are checking your payment');
    expect(await orderOf(id)).toMatchObject({ is_paid: false });
    await complete(made[0]?.id ?? '');
    await sees('Thank you, it is paid'); // the page refreshes itself
    expect(await orderOf(id)).toMatchObject({ is_paid: true });
    expect(await paymentsOf(`${id}.2`)).toHaveLength(0);
  });

  it('says that nothing was charged when the gateway refuses, and the same attempt can be made again', async () => {
    await faultOfNext('reject-422');
    const id = await buy('EUR', 'Card');
    await sees('That did not work');
    expect(await overflowOf(page)).toBe(0);
    await button('Try again').click();
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    expect(await paymentsOf(`${id}.1`)).toHaveLength(1);
  });

  it('shows how to pay by PayID, and that the money has arrived', async () => {
    const id = await buy('AUD', 'PayID transfer', 'Rooibos');
    await sees('Transfer the money by PayID');
    expect(await faultsOf(page)).toEqual([]);
    const payment = await arrived(`${id}.1`);
    const shown = await page.getByRole('definition').allTextContents();
    expect(shown[0]).toMatch(/^pay-[\da-f]+@/);
    expect(shown.slice(1)).toEqual([expect.stringContaining('Pty'), expect.stringMatching(/^[\dA-F]{8}$/), 'A$12.00']);
    await page.reload();
    expect(await page.getByRole('definition').allTextContents()).toEqual(shown);
    await complete(payment.id);
    await sees('Thank you, it is paid');
  });

  it('is open again after a chargeback, and can be paid again', async () => {
    const id = await buyAndPay();
    const [payment] = await paymentsOf(`${id}.1`);
    await move(payment?.id ?? '', { move: 'fail', reason: 'Chargeback', force: true });
    await settled(`${id}.1`, 'FAILED');
    await openOrder(id);
    await sees('Your bank took the payment back');
    expect(await orderOf(id)).toMatchObject({ is_paid: false });
    await button('Pay €12.50').click();
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
  });

  it('stops an order that the operator cancels, and a late payment goes to review', async () => {
    const id = await buy('EUR', 'Card');
    const payment = await arrived(`${id}.1`);
    await openOperator();
    await page
      .getByRole('row', { name: `${id} 1 €12.50 open` })
      .getByRole('button', { name: 'Cancel' })
      .click();
    await openOrder(id);
    await sees('This order was cancelled');
    await complete(payment.id);
    await settled(`${id}.1`, 'COMPLETED');
    expect(await orderOf(id)).toMatchObject({ is_paid: false });
    await page.goto(`${shop}/operator`);
    await page.getByRole('row', { name: `${id}.1 ${payment.id} €12.50 order canceled` }).waitFor();
  });

  it("sends the grower's payout once, and once more for eight operators who say so after it failed", async () => {
    const id = await buyAndPay();
    const payout = await payoutOf(id);
    expect(payout).toMatchObject({ amount: 7.5, currency: 'EUR', paymentMethod: 'SEPA', paymentStatus: 'PENDING' });
    const [{ reference = '' } = {}] = await payoutsOf(id);
    await move(payout.id, { move: 'fail', reason: 'Account closed' });
    await settled(reference, 'FAILED');
    await openOperator();
    await page.getByRole('row', { name: `${reference} ${id} €7.50 failed` }).waitFor();
    const answers = await Promise.all(Array.from({ length: 8 }, () => payAgain(reference)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(303));
    const [, second, third] = await payoutsOf(id);
    expect(third).toBeUndefined();
    await complete((await arrived(second?.reference ?? '')).id);
    await settled(second?.reference ?? '', 'COMPLETED');
    await showsRow(`${second?.reference} ${id} €7.50 paid`);
    // The button of a page that is out of date pays nothing more.
    await payAgain(reference);
    expect((await payoutsOf(id)).map(({ state }) => state)).toEqual(['replaced', 'paid']);
    expect(await paymentsOf(reference)).toHaveLength(1);
  });

  it('shows a payout that the gateway has refused, and owes it again when the operator says so', async () => {
    const id = await buy('AUD', 'Card');
    const { rows } = await pool.query('select last_value + is_called::int as number from payout_number');
    const reference = `grower-${rows[0].number}`;
    await fault('reject-422', { reference });
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    await openOperator();
    await showsRow(`${reference} ${id} A$12.54 failed`);
    await page.getByRole('row', { name: `${reference} A$12.54 payout refused` }).waitFor();
    await page
      .getByRole('row', { name: `${reference} ${id}` })
      .getByRole('button', { name: 'Pay again' })
      .click();
    const [, second] = await payoutsOf(id);
    expect(await arrived(second?.reference ?? '')).toMatchObject({ amount: 12.54, paymentMethod: 'PAYID' });
    expect(await paymentsOf(reference)).toHaveLength(0);
  });

  it('shows a doubt, refuses an early or wrong decision with its reason, and is settled there', async () => {
    await faultOfNext('commit-then-drop');
    const id = await buy('PLN', 'BLIK', 'Assam');
    await sees('We are checking your payment');
    const [payment] = await paymentsOf(`${id}.1`);
    const other = await buy('PLN', 'BLIK', 'Rooibos');
    const [wrong] = await paymentsOf(`${other}.1`);
    await openOperator();
    const doubt = page.locator('form', { has: heading(`${id}.1 PLN 42.00`) });
    await doubt.waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await faultsOf(page)).toEqual([]);

    const alert = page.getByRole('alert');
    await doubt.getByRole('button', { name: 'There is no payment' }).click();
    expect(await alert.textContent()).toMatch(/Nothing was changed\. Too early/);
    await doubt.getByLabel("Its payment's id").fill(wrong?.id ?? '');
    await doubt.getByRole('button', { name: 'Settle' }).click();
    expect(await alert.textContent()).toContain(`reference is "${other}.1" and not "${id}.1"`);

    await doubt.getByLabel("Its payment's id").fill(` ${payment?.id} `);
    await doubt.getByRole('button', { name: 'Settle' }).click();
    await doubt.waitFor({ state: 'detached' });
    expect(await alert.count()).toBe(0);
    await complete(payment?.id ?? '');
    await settled(`${id}.1`, 'COMPLETED');
    expect([await orderOf(id), receipts(id)]).toMatchObject([{ is_paid: true }, 1]);
  });

  it('sets its own prices, refuses forms of other sites, and has addresses that cannot be guessed', async () => {
    const form = { product: 'sencha', currency: 'EUR', method: 'CARD' };
    const orders = async () => (await pool.query('select count(*)::int as n from orders')).rows[0].n;
    const before = await orders();
    expect((await post('/orders', form, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('/orders', form, {})).status).toBe(403);
    expect((await post('/orders', { ...form, method: 'BLIK' })).status).toBe(422);
    expect((await post('/orders', { ...form, product: 'constructor' })).status).toBe(422);
    expect(await orders()).toBe(before);
    expect((await post('/orders', { ...form, amount: '0.01', price: '0.01' })).status).toBe(303);
    const { rows } = await pool.query('select amount from orders order by created_at desc limit 1');
    expect(rows[0].amount).toBe('12.50');
    expect((await fetch(`${shop}/orders/tea-1`)).status).toBe(404);
    expect((await fetch(`${shop}/orders/${crypto.randomUUID()}`)).status).toBe(404);
  });

  it('refuses a decision without the password, or from another site', async () => {
    const settle = (headers: Record<string, string>) =>
      post('/operator/doubts', { reference: 'tea-1.1', resolution: 'not_created' }, headers);
    expect((await fetch(`${shop}/operator`)).status).toBe(401);
    expect((await settle({ origin: shop })).status).toBe(401);
    expect((await settle({ origin: shop, authorization: basic('guess') })).status).toBe(401);
    expect((await settle({ origin: 'https://evil.example', authorization: basic('operator') })).status).toBe(403);
  });

  it('escapes the texts of others', async () => {
    const reference = '<img src=x onerror=alert(1)>';
    const elsewhere = new GatewayClient({ baseUrl: sandbox, apiKey: 'sandbox-api-key', signKey: 'sandbox-sign-key' });
    const request = { paymentMethod: 'CARD', amount: 1, currency: 'EUR', reference } as const;
    const { payment } = await elsewhere.createDeposit({ ...request, webhookUrl: `${shop}/callbacks` });
    await complete(payment.id);
    await settled(encodeURIComponent(reference), 'COMPLETED');
    await openOperator();
    await page.getByText(reference).waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });

  it('shows an order without JavaScript, and refreshes itself there too', async () => {
    await context.close();
    context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
    const id = await buy('AUD', 'PayID transfer');
    await sees('Transfer the money by PayID');
    await complete((await arrived(`${id}.1`)).id);
    await sees('Thank you, it is paid');
  });

  it('does not start without a database, nor in production with the password of the example or the sandbox', async () => {
    const [lost, open, sandboxed] = await Promise.all([
      refusal({ DATABASE_URL: 'postgres://postgres@127.0.0.1:1/test' }),
      refusal({ NODE_ENV: 'production' }),
      refusal({ NODE_ENV: 'production', OPERATOR_PASSWORD: 'secret' }),
    ]);
    expect([lost.code, open.code, sandboxed.code]).toEqual([1, 1, 1]);
    expect(lost.said).toMatch(
      /^No database: .*ECONNREFUSED.*Set DATABASE_URL, or start a PostgreSQL:\n {2}docker run .*\n$/,
    );
    expect(open.said).toMatch(/^Set OPERATOR_PASSWORD/);
    expect(sandboxed.said).toMatch(/^Set PAYMENT_GATEWAY_URL/);
  });

  it('ends on SIGTERM, also with an open connection, and prints no error', async () => {
    const own = uniqueName('shop');
    const other = await open({ DATABASE_SCHEMA: own });
    onTestFinished(async () => {
      other.child.kill('SIGKILL');
      await pool.query(`drop schema if exists ${own} cascade`);
    });
    expect((await fetch(other.shop)).status).toBe(200);
    // Browsers open connections in advance.
    const unused = connect(Number(new URL(other.shop).port), '127.0.0.1').on('error', () => {});
    onTestFinished(() => void unused.destroy());
    await once(unused, 'connect');
    const before = other.printed();
    other.child.kill('SIGTERM');
    const [code] = await once(other.child, 'exit');
    expect([code, other.printed()]).toEqual([0, before]);
  });
});
