// What an open dashboard costs: the longest task of its page, and a create beside it, first and after ten thousand payments.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { chromium } from 'playwright-core';
import { median } from './statistics.ts';

const PAYMENTS = 10_000;
const BATCH = 100;
/** Milliseconds: a browser counts longer tasks as long. */
const LONG_TASK = 50;

/** Milliseconds of the longest task of the page, and microseconds of each create. */
export async function dashboards(): Promise<{ longestTask: number; first: number; last: number; alone: number }> {
  const request = {
    paymentMethod: 'CARD',
    amount: '25.50',
    currency: 'EUR',
    webhookUrl: 'https://shop.example/callbacks',
  } as const;
  const open = () => new Sandbox({ fetch: async () => new Response() });
  const batch = async (sandbox: Sandbox, gateway: GatewayClient): Promise<number> => {
    const begun = performance.now();
    for (let count = 0; count < BATCH; count++) {
      const { payment } = await gateway.createDeposit(request);
      await sandbox.complete(payment.id);
    }
    return ((performance.now() - begun) * 1000) / BATCH;
  };
  const overHttp = async (sandbox: Sandbox) => {
    const { url, close } = await sandbox.listen();
    const { fetch: _, ...options } = sandbox.clientOptions;
    return { url, close, gateway: new GatewayClient({ ...options, baseUrl: url }) };
  };

  // The first thousands of a process are those of the compiler: another sandbox takes them.
  const other = open();
  const warm = await overHttp(other);
  const times: number[] = [];
  for (let count = 0; count < 30; count++) times.push(await batch(other, warm.gateway));
  const alone = median(times.slice(-5));
  await warm.close();

  const sandbox = open();
  const { url, close, gateway } = await overHttp(sandbox);
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.addInitScript(`
    globalThis.longest = 0;
    new PerformanceObserver(list => {
      for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
    }).observe({ type: 'longtask', buffered: true });
  `);
  await page.goto(url);
  await page.locator('#live[data-state=live]').waitFor();
  const beside: number[] = [];
  while (sandbox.payments.length < PAYMENTS) beside.push(await batch(sandbox, gateway));
  await page.getByText(`All ${PAYMENTS.toLocaleString('en')}`).waitFor();
  const longest = Number(await page.evaluate('globalThis.longest'));
  await browser.close();
  await close();
  return {
    longestTask: Math.max(longest, LONG_TASK),
    first: beside[0] ?? Number.NaN,
    last: median(beside.slice(-5)),
    alone,
  };
}

if (import.meta.main) {
  const { longestTask, first, last, alone } = await dashboards();
  console.log(
    `The longest task of the page: at most ${Math.round(longestTask)} ms (shorter than ${LONG_TASK} ms are not told).`,
  );
  console.log(`A create beside it: the first hundred ${Math.round(first)} µs each, the last ${Math.round(last)} µs:`);
  console.log(`${(last / first).toFixed(2)} times as much; without a dashboard ${Math.round(alone)} µs.`);
}
