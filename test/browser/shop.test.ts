// examples/shop, started as it stands: a customer buys, an operator settles, and the sandbox spoils what it can.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FaultOptions } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { faultsOf, overflowOf } from '../support/axe.ts';
import { hasChromium, openBrowser, strangersOf } from '../support/browser.ts';
import { hasShop, shopFolder } from '../support/install-shop.ts';
import { freePorts } from '../support/ports.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

const schema = uniqueName('shop');

/** Starts the shop in a process of its own, on the SDK's source. */
function start(env: NodeJS.ProcessEnv) {
  const hooks = new URL('../support/shop-from-source.mjs', import.meta.url).href;
  const { PAYMENT_GATEWAY_URL: _, DATABASE_URL: __, ...rest } = process.env;
  return spawn(process.execPath, ['--no-warnings', '--import', hooks, 'server.ts'], {
    cwd: shopFolder,
    env: { ...rest, NODE_ENV: '', DATABASE_SCHEMA: schema, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** A shop that takes calls. */
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

/** What it says if it does not start. */
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
  hasChromium && hasPostgres && hasShop(),
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
      // What is refused is answered by a page with such a status, which Chromium logs.
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
    const { rows } = await pool.query('select last_value + is_called::int as id from orders_id_seq');
    return fault(name, { reference: `order-${rows[0].id}.1` });
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

  /** Presses "Buy", and follows. @returns the number of the order */
  async function buy(currency: string, method: string, product = 'Sencha'): Promise<number> {
    await page.goto(`${shop}/?currency=${currency}`);
    await page.getByLabel(product).check();
    await page.getByLabel(method, { exact: true }).check();
    await button('Buy').click();
    const { rows } = await pool.query('select max(id) as id from orders');
    return rows[0].id;
  }
  const orderOf = async (id: number) => (await pool.query('select * from orders where id = $1', [id])).rows[0];
  const openOrder = async (id: number) => page.goto(`${shop}/orders/${(await orderOf(id)).key}`);
  const receipts = (id: number) =>
    printed()
      .split('\n')
      .filter(line => line.startsWith(`Receipt of order ${id}:`)).length;

  async function payByCard(number: string) {
    await page.getByLabel('Card number').fill(number);
    await page.getByLabel('Expiry date').fill('12 / 48');
    await page.getByLabel('Security code').fill('123');
    await page.getByLabel('Name on card').fill('Alex Example');
    await button(/^Pay /).click();
  }
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = { origin: shop }) =>
    fetch(shop + path, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });
  const basic = (password: string) => `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;

  const payAgain = (id: number) =>
    post('/operator/payouts', { order: String(id) }, { origin: shop, authorization: basic('operator') });

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
    await settled(`order-${id}.1`, 'COMPLETED');
    const [payment] = await paymentsOf(`order-${id}.1`);
    expect(payment).toMatchObject({ amount: 12.5, currency: 'EUR', paymentStatus: 'COMPLETED' });
    expect(await orderOf(id)).toMatchObject({ paid_by: payment?.id, attempt: 1 });
    expect(receipts(id)).toBe(1);
    expect((await pool.query('select count(*)::int as n from payouts where order_id = $1', [id])).rows[0].n).toBe(1);
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
    expect(await paymentsOf(`order-${id}.1`)).toMatchObject([{ paymentStatus: 'FAILED', paymentMethod: 'CARD' }]);
    expect(await paymentsOf(`order-${id}.2`)).toMatchObject([{ paymentStatus: 'COMPLETED', paymentMethod: 'IDEAL' }]);
    expect(receipts(id)).toBe(1);
  });

  it('leads a customer who comes back to the payment that is open, and makes no second one', async () => {
    const id = await buy('PLN', 'BLIK');
    await page.getByLabel('BLIK code').waitFor();
    const open = page.url();
    await openOrder(id);
    await sees('Your payment is not finished');
    expect(await overflowOf(page)).toBe(0);
    const { key } = await orderOf(id);
    // Another method does not count while this attempt may be paid.
    const tabs = await Promise.all([1, 2, 3].map(() => post(`/orders/${key}/pay`, { method: 'CARD' })));
    expect(tabs.map(tab => tab.headers.get('location'))).toEqual([open, open, open]);
    await button('Continue to payment').click();
    await page.getByLabel('BLIK code').waitFor();
    expect(page.url()).toBe(open);
    expect(await paymentsOf(`order-${id}.1`)).toHaveLength(1);
    expect(await paymentsOf(`order-${id}.2`)).toHaveLength(0);
  });

  it.each(['commit-then-drop', 'commit-then-cut'])(
    'says that it is checking after a create that ends by %s, sends nothing twice, and the callback settles it',
    async name => {
      await faultOfNext(name);
      const id = await buy('EUR', 'Card', 'Assam');
      await sees('We are checking your payment');
      expect(await overflowOf(page)).toBe(0);
      const { key } = await orderOf(id);
      expect((await post(`/orders/${key}/pay`, { method: 'CARD' })).headers.get('location')).toBe(`/orders/${key}`);
      const made = await paymentsOf(`order-${id}.1`);
      expect(made).toHaveLength(1);
      expect((await orderOf(id)).paid_by).toBeNull();
      await complete(made[0]?.id ?? '');
      await sees('Thank you, it is paid'); // the page looks by itself
      expect(await orderOf(id)).toMatchObject({ paid_by: made[0]?.id, attempt: 1 });
      expect(await paymentsOf(`order-${id}.2`)).toHaveLength(0);
    },
  );

  it('says that nothing was charged when the gateway refuses, and the same attempt can be made again', async () => {
    await faultOfNext('reject-422');
    const id = await buy('EUR', 'Card');
    await sees('That did not work');
    expect(await overflowOf(page)).toBe(0);
    await button('Try again').click();
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    expect(await orderOf(id)).toMatchObject({ attempt: 1 });
  });

  it('shows how to pay by PayID, and that the money has arrived', async () => {
    const id = await buy('AUD', 'PayID transfer', 'Rooibos');
    await sees('Transfer the money by PayID');
    expect(await faultsOf(page)).toEqual([]);
    const payment = await arrived(`order-${id}.1`);
    const shown = await page.getByRole('definition').allTextContents();
    expect(shown[0]).toMatch(/^pay-[\da-f]+@/);
    expect(shown.slice(1)).toEqual([expect.stringContaining('Pty'), expect.stringMatching(/^[\dA-F]{8}$/), 'A$12.00']);
    await page.reload();
    expect(await page.getByRole('definition').allTextContents()).toEqual(shown);
    await complete(payment.id);
    await sees('Thank you, it is paid');
  });

  it("sends the grower's payout once, and once more when the operator says so after it failed", async () => {
    const id = await buy('EUR', 'Card');
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    const payout = await arrived(`payout-${id}.1`);
    expect(payout).toMatchObject({ amount: 7.5, currency: 'EUR', paymentMethod: 'SEPA', paymentStatus: 'PENDING' });
    await move(payout.id, { move: 'fail', reason: 'Account closed' });
    await settled(`payout-${id}.1`, 'FAILED');
    await openOperator();
    const row = page.getByRole('row', { name: `${id} 1 €7.50 failed` });
    await row.getByRole('button', { name: 'Pay again' }).click();
    await complete((await arrived(`payout-${id}.2`)).id);
    await settled(`payout-${id}.2`, 'COMPLETED');
    await page.reload();
    await page.getByRole('row', { name: `${id} 2 €7.50 completed` }).waitFor();
    expect(await paymentsOf(`payout-${id}.1`)).toHaveLength(1);
    expect(await paymentsOf(`payout-${id}.2`)).toHaveLength(1);
    // The button of a page that is out of date pays nothing more.
    await payAgain(id);
    expect((await pool.query('select max(attempt) as n from payouts where order_id = $1', [id])).rows[0].n).toBe(2);
  });

  it('owes a payout once more for two operators who say so at once, and both see their page', async () => {
    const id = await buy('EUR', 'Card');
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    await move((await arrived(`payout-${id}.1`)).id, { move: 'fail', reason: 'Account closed' });
    await settled(`payout-${id}.1`, 'FAILED');
    const answers = await Promise.all(Array.from({ length: 8 }, () => payAgain(id)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(303));
    expect((await pool.query('select max(attempt) as n from payouts where order_id = $1', [id])).rows[0].n).toBe(2);
    await arrived(`payout-${id}.2`);
    expect(await paymentsOf(`payout-${id}.2`)).toHaveLength(1);
  });

  it('says that a link was lost with the answer to its create, and takes the next attempt once that is cancelled', async () => {
    await faultOfNext('commit-then-drop');
    const id = await buy('EUR', 'Card');
    await sees('We are checking your payment');
    const [payment] = await paymentsOf(`order-${id}.1`);
    await pool.query("update payment_gateway_journal set begun_at = begun_at - interval '1 day' where reference = $1", [
      `order-${id}.1`,
    ]);
    await openOperator();
    const doubt = page.locator('form', { has: heading(`order-${id}.1 €12.50`) });
    await doubt.getByLabel("Its payment's id").fill(payment?.id ?? '');
    await doubt.getByRole('button', { name: 'Settle' }).click();
    await openOrder(id);
    await sees('The link to your payment was lost');
    await move(payment?.id ?? '', { move: 'cancel' });
    await sees('The payment was not made');
    await button(/^Pay /).click();
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    expect(await orderOf(id)).toMatchObject({ attempt: 2 });
  });

  it('lists a payment with a status that the document does not have, a deposit as well as a payout', async () => {
    const id = await buy('EUR', 'Card');
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    const payout = await arrived(`payout-${id}.1`);
    const unpaid = await arrived(`order-${await buy('EUR', 'Card')}.1`);
    for (const payment of [payout, unpaid]) {
      await fault('unknown-status', { on: 'lookup' });
      const body = JSON.stringify({ ...payment, paymentStatus: 'IN_REVIEW' });
      expect((await fetch(`${shop}/callbacks`, { method: 'POST', body })).status).toBe(200);
      const { rows } = await pool.query('select status from to_check where payment_id = $1', [payment.id]);
      expect(rows).toEqual([{ status: 'IN_REVIEW' }]);
    }
  });

  it('shows a payout that the gateway has refused, and owes it again when the operator says so', async () => {
    const id = await buy('AUD', 'Card');
    await fault('reject-422', { reference: `payout-${id}.1` });
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    await openOperator();
    await expect
      .poll(async () => {
        await page.reload();
        return page.getByRole('row', { name: `${id} 1 A$12.54 not paid` }).count();
      })
      .toBe(1);
    await page
      .getByRole('row', { name: `${id} 1 ` })
      .getByRole('button', { name: 'Pay again' })
      .click();
    expect(await arrived(`payout-${id}.2`)).toMatchObject({ amount: 12.54, currency: 'AUD', paymentMethod: 'PAYID' });
    expect(await paymentsOf(`payout-${id}.1`)).toHaveLength(0);
    // The journal has its answer a moment after the gateway has the payment.
    await expect
      .poll(async () => {
        await page.reload();
        return page.getByRole('row', { name: `${id} 2 A$12.54 sent` }).count();
      })
      .toBe(1);
  });

  it('shows the operator a doubt, refuses what is too early or wrong and says why, and is settled there', async () => {
    await faultOfNext('commit-then-drop');
    const id = await buy('PLN', 'BLIK', 'Assam');
    await sees('We are checking your payment');
    const [payment] = await paymentsOf(`order-${id}.1`);
    const other = await buy('PLN', 'BLIK', 'Rooibos');
    const [wrong] = await paymentsOf(`order-${other}.1`);
    await openOperator();
    const doubt = page.locator('form', { has: heading(`order-${id}.1 PLN 42.00`) });
    await doubt.waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await faultsOf(page)).toEqual([]);

    const alert = page.getByRole('alert');
    await doubt.getByRole('button', { name: 'There is no payment' }).click();
    expect(await alert.textContent()).toMatch(/was not settled\. Too early/);
    await doubt.getByLabel("Its payment's id").fill(wrong?.id ?? '');
    await doubt.getByRole('button', { name: 'Settle' }).click();
    expect(await alert.textContent()).toContain(`belongs to reference "order-${other}.1"`);
    expect((await orderOf(id)).paid_by).toBeNull();

    // Lost: the operator's word is all there is.
    await fault('callback-lose');
    await complete(payment?.id ?? '');
    await doubt.getByLabel("Its payment's id").fill(` ${payment?.id} `);
    await doubt.getByRole('button', { name: 'Settle' }).click();
    await doubt.waitFor({ state: 'detached' });
    expect(await alert.count()).toBe(0);
    expect(await orderOf(id)).toMatchObject({ paid_by: payment?.id });
    expect(receipts(id)).toBe(1);
  });

  it('lists a payment that pays an order for the second time, and credits it once', async () => {
    const id = await buy('EUR', 'Card');
    await payByCard('4000 0000 0000 9995');
    await button('Pay €12.50').click();
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    const [first] = await paymentsOf(`order-${id}.1`);
    const [second] = await paymentsOf(`order-${id}.2`);
    await move(first?.id ?? '', { move: 'complete', force: true });
    await settled(`order-${id}.1`, 'COMPLETED');
    expect((await orderOf(id)).paid_by).toBe(second?.id);
    expect(receipts(id)).toBe(1);
    await openOperator();
    await page.getByRole('row', { name: `order-${id}.1 ${first?.id} €12.50` }).waitFor();
  });

  it('lists a payment that failed after it had paid an order, and a payout that is paid after it had failed', async () => {
    const id = await buy('EUR', 'Card');
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    const [payment] = await paymentsOf(`order-${id}.1`);
    await move(payment?.id ?? '', { move: 'fail', reason: 'Chargeback', force: true });
    await settled(`order-${id}.1`, 'FAILED');
    const payout = await arrived(`payout-${id}.1`);
    await move(payout.id, { move: 'fail', reason: 'Account closed' });
    await settled(`payout-${id}.1`, 'FAILED');
    await move(payout.id, { move: 'complete', force: true });
    await settled(`payout-${id}.1`, 'COMPLETED');
    expect((await orderOf(id)).paid_by).toBe(payment?.id);
    await openOperator();
    await page.getByRole('row', { name: `order-${id}.1 ${payment?.id} €12.50 failed` }).waitFor();
    await page.getByRole('row', { name: `payout-${id}.1 ${payout.id} €7.50 completed` }).waitFor();
    await page.getByRole('row', { name: `${id} 1 €7.50 failed` }).waitFor();
  });

  it('is credited when the customer comes back, though the callback was lost', async () => {
    await fault('callback-lose');
    const id = await buy('EUR', 'Card');
    await payByCard('4242 4242 4242 4242');
    await sees('Thank you, it is paid');
    expect(receipts(id)).toBe(1);
    expect(await control(`/deliveries?paymentId=${(await orderOf(id)).paid_by}`)).toMatchObject({
      deliveries: [{ error: 'never posted' }],
    });
  });

  it('believes no forged callback', async () => {
    const id = await buy('EUR', 'Card');
    const payment = await arrived(`order-${id}.1`);
    const forge = async (claim: object) => {
      const body = JSON.stringify({ ...payment, ...claim });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${shop}/callbacks`, { method: 'POST', headers, body })).status;
    };
    // The first claims the status that the record has; the second one that the record does not show, so it may come again.
    expect(await forge({ paymentStatus: 'PENDING', amount: 0.01 })).toBe(200);
    expect(await Promise.all([forge({ paymentStatus: 'COMPLETED' }), openOrder(id)])).toEqual([503, expect.anything()]);
    expect((await orderOf(id)).paid_by).toBeNull();
    await sees('Your payment is not finished');
  });

  it('takes prices from nobody, forms from its own pages only, and lets nobody guess an order', async () => {
    const form = { product: 'sencha', currency: 'EUR', method: 'CARD' };
    const orders = async () => (await pool.query('select count(*)::int as n from orders')).rows[0].n;
    const before = await orders();
    expect((await post('/orders', form, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('/orders', form, {})).status).toBe(403);
    expect((await post('/orders', { ...form, method: 'BLIK' })).status).toBe(422);
    expect((await post('/orders', { ...form, product: 'constructor' })).status).toBe(422);
    expect(await orders()).toBe(before);
    expect((await post('/orders', { ...form, amount: '0.01', price: '0.01' })).status).toBe(303);
    const { rows } = await pool.query('select amount, key from orders order by id desc limit 1');
    expect(rows[0].amount).toBe('12.50');
    expect((await fetch(`${shop}/orders/1`)).status).toBe(404);
    expect((await fetch(`${shop}/orders/${crypto.randomUUID()}`)).status).toBe(404);
  });

  it('lets nobody settle a doubt without the password, or from another site', async () => {
    const settle = (headers: Record<string, string>) =>
      post('/operator/doubts', { reference: 'order-1.1', resolution: 'not_created' }, headers);
    expect((await fetch(`${shop}/operator`)).status).toBe(401);
    expect((await settle({ origin: shop })).status).toBe(401);
    expect((await settle({ origin: shop, authorization: basic('guess') })).status).toBe(401);
    expect((await settle({ origin: 'https://evil.example', authorization: basic('operator') })).status).toBe(403);
  });

  it('escapes what others write', async () => {
    const reference = '<img src=x onerror=alert(1)>';
    await pool.query("insert into to_check values (gen_random_uuid(), 'COMPLETED', $1, 1, 'EUR')", [reference]);
    await openOperator();
    await page.getByText(reference).waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });

  it('shows an order without JavaScript, and looks again by itself there too', async () => {
    await context.close();
    context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
    const id = await buy('AUD', 'PayID transfer');
    await sees('Transfer the money by PayID');
    await complete((await arrived(`order-${id}.1`)).id);
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

  it('ends by itself when it is told to, whoever holds a connection, and prints no error on the way', async () => {
    const own = uniqueName('shop');
    const other = await open({ DATABASE_SCHEMA: own });
    onTestFinished(async () => {
      other.child.kill('SIGKILL');
      await pool.query(`drop schema if exists ${own} cascade`);
    });
    expect((await fetch(other.shop)).status).toBe(200);
    // As browsers open one for a request that may come.
    const unused = connect(Number(new URL(other.shop).port), '127.0.0.1').on('error', () => {});
    onTestFinished(() => void unused.destroy());
    await once(unused, 'connect');
    const before = other.printed();
    other.child.kill('SIGTERM');
    const [code] = await once(other.child, 'exit');
    expect([code, other.printed()]).toEqual([0, before]);
  });
});
