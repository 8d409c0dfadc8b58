// Forged callbacks of unknown payments, next to genuine ones, with and without tokens.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayClient } from 'payment-gateway-sdk';
import { quantile } from './statistics.ts';

const GENUINE_PER_SECOND = 20;
const FORGED_PER_SECOND = 300;
/** Milliseconds until a callback with the answer 503 is posted again, and the maximum number of posts. */
const AGAIN = 1_000;
const MOST_POSTS = 60;

/** The resources of the shop, in megabytes, and its concurrent lookups. */
interface Measured {
  heap: number;
  rss: number;
  most: number;
}

export interface Flooded extends Measured {
  name: string;
  /** Milliseconds from the first post to its 200. */
  p50: number;
  p99: number;
  /** Genuine callbacks: all, those posted again, and those without a 200. */
  genuine: number;
  repeated: number;
  lost: number;
}

async function ask(shop: ChildProcess): Promise<Measured> {
  shop.send('measure');
  const [measured] = (await once(shop, 'message')) as [Measured];
  return measured;
}

/** The query that a create's callback address gets. */
async function tokenOf(): Promise<string> {
  let query = '';
  const gateway = new GatewayClient({
    ...{ baseUrl: 'https://gateway.example', apiKey: 'api-key', signKey: 'sign-key', signCallbackUrls: true },
    webhookUrl: 'https://shop.example/',
    fetch: async (_url, { body }) => {
      const sent = JSON.parse(Buffer.from(body ?? []).toString());
      query = new URL(sent.webhookUrl).search;
      return new Response(JSON.stringify({ ...sent, id: randomUUID(), paymentStatus: 'PENDING' }));
    },
  });
  await gateway.createDeposit({ paymentMethod: 'CARD', amount: 1, currency: 'EUR' });
  return query;
}

async function scene(name: string, seconds: number, forgedPerSecond: number, query: string): Promise<Flooded> {
  const shop = fork(new URL('./flood-shop.ts', import.meta.url), { stdio: 'inherit' });
  const [port] = (await once(shop, 'message')) as [number];
  const agent = new Agent({ keepAlive: true });
  const post = (path: string, id: string) =>
    new Promise<number>((resolve, reject) => {
      const outgoing = request({ port, path, method: 'POST', agent }, response => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      outgoing.on('error', reject);
      outgoing.end(JSON.stringify({ id, paymentStatus: 'COMPLETED' }));
    });

  const times: number[] = [];
  let [repeated, lost] = [0, 0];
  const genuine = async () => {
    const id = `${randomUUID().slice(0, -1)}0`;
    const begun = performance.now();
    for (let posts = 1; posts <= MOST_POSTS; posts++) {
      if ((await post(`/${query}`, id)) === 200) {
        times.push(performance.now() - begun);
        return;
      }
      if (posts === 1) repeated += 1;
      await delay(AGAIN);
    }
    lost += 1;
  };
  const forged = () => post('/', `${randomUUID().slice(0, -1)}1`).catch(() => 0);

  const running: Promise<unknown>[] = [];
  const every = async (perSecond: number, work: () => Promise<unknown>, end: number) => {
    const begun = performance.now();
    for (let count = 0; perSecond > 0 && performance.now() < end; count++) {
      const wait = begun + (count * 1000) / perSecond - performance.now();
      if (wait > 0) await delay(wait);
      running.push(work());
    }
  };
  // Compiles and connects first.
  for (let round = 0; round < 20; round++) {
    const each: () => Promise<unknown> = round % 2 ? genuine : forged;
    await Promise.all(Array.from({ length: 100 }, each));
  }
  times.length = 0;
  [repeated, lost] = [0, 0];
  const before = await ask(shop);
  const end = performance.now() + seconds * 1000;
  await Promise.all([every(GENUINE_PER_SECOND, genuine, end), every(forgedPerSecond, forged, end)]);
  const after = await ask(shop);
  await Promise.all(running);
  shop.disconnect();
  agent.destroy();
  return {
    ...{ name, genuine: times.length + lost, repeated, lost, most: after.most },
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    heap: after.heap - before.heap,
    rss: after.rss - before.rss,
  };
}

/** @param seconds of each scene with a flood */
export async function floods(seconds: number): Promise<Flooded[]> {
  const token = await tokenOf();
  return [
    await scene('no flood, with tokens', seconds / 2, 0, token),
    await scene('flood, with tokens', seconds, FORGED_PER_SECOND, token),
    await scene('flood, without tokens', seconds, FORGED_PER_SECOND, ''),
  ];
}

if (import.meta.main) console.table(await floods(Number(process.argv[2] ?? 60)));
