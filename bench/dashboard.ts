// What an open dashboard costs: the longest task of its page, and a create beside it, first and after ten thousand payments.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { chromium } from 'playwright-core';
import { median } from './statistics.ts';

const PAYMENTS = 10_000;
const BATCH = 100;
interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds of the processor: a machine that is busy with other things changes nothing. */
  tdur?: number;
  args?: { name?: string; beginData?: { url?: string } };
}

/** Milliseconds of the longest task on the main thread of the page; the browser has pages of its own. */
function longestOf(events: readonly TraceEvent[], url: string): number {
  const key = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const parsed = events.filter(({ name, args }) => name === 'ParseHTML' && args?.beginData?.url?.startsWith(url));
  const threads = new Set(parsed.map(key));
  const tasks = events.filter(event => event.name.endsWith('RunTask') && event.ph === 'X' && threads.has(key(event)));
  if (tasks.length === 0) throw new Error('The trace has no task.');
  return tasks.reduce((longest, { tdur = 0 }) => Math.max(longest, tdur), 0) / 1000;
}

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
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  await page.goto(url);
  await page.locator('#live[data-state=live]').waitFor();
  const beside: number[] = [];
  for (let count = 0; count < PAYMENTS; count += BATCH) beside.push(await batch(sandbox, gateway));
  await page.getByText(`All ${PAYMENTS.toLocaleString('en')}`).waitFor();
  const longestTask = longestOf(JSON.parse((await browser.stopTracing()).toString()).traceEvents, url);
  await browser.close();
  await close();
  return {
    longestTask,
    first: median(beside.slice(0, 5)),
    last: median(beside.slice(-5)),
    alone,
  };
}

if (import.meta.main) {
  const { longestTask, first, last, alone } = await dashboards();
  console.log(`The longest task of the page: ${longestTask.toFixed(0)} ms of the processor.`);
  console.log(`A create beside it: ${first.toFixed(0)} µs each of the first hundreds, ${last.toFixed(0)} of the last:`);
  console.log(`${(last / first).toFixed(2)} times as much; without a dashboard ${alone.toFixed(0)} µs.`);
}
