// The proof that matters: in many processes each effect happens exactly once.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, expect, it } from 'vitest';
import { seeded } from '../soak/seeded.ts';
import { inParallel, Worker, type WorkerOptions } from '../support/processes.ts';
import { isFull } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';
import { openDatabase } from './database.ts';
import { describeOver } from './databases.ts';
import { openProxy } from './proxy.ts';

/** What a store remembers of the effects, in the order in which they were made. */
interface Ledger {
  options: Pick<WorkerOptions, 'STORE' | 'PREFIX' | 'EFFECTS'>;
  port: number;
  effects(): Promise<[id: string, status: string][]>;
  close(): Promise<unknown>;
}

async function overDatabase(name: string, port: number): Promise<Ledger> {
  const [tablePrefix, effects] = [uniqueName('store'), uniqueName('effects')];
  const database = await openDatabase(name);
  await database.store({ scope: 'shop', tablePrefix }).migrate();
  await database.query(`create table ${effects} (seq serial, payment_id char(36), status varchar(20))`);
  return {
    options: { STORE: name, PREFIX: tablePrefix, EFFECTS: effects },
    port,
    effects: async () => {
      const rows = await database.query(`select payment_id, status from ${effects} order by seq`);
      return rows.map(({ payment_id, status }) => [String(payment_id), String(status)]);
    },
    close: async () => {
      await database.query(`drop table ${tablePrefix}_rows, ${effects}`);
      await database.end();
    },
  };
}

/** Payments whose states move while their callbacks flow. */
class Market {
  /** `${id} ${status}` → the callback's body. */
  readonly #bodies = new Map<string, string>();
  readonly sandbox = new Sandbox({
    fetch: async (_url, init) => {
      const body = String(init.body);
      const { id, paymentStatus } = JSON.parse(body);
      this.#bodies.set(`${id} ${paymentStatus}`, body);
      return new Response();
    },
  });
  readonly #paths = new Map<string, string[]>();
  readonly #moving = new Map<string, Promise<void>>();

  /** Deposits and withdrawals, each with its path to a final state. */
  async open(count: number): Promise<string[]> {
    const gateway = new GatewayClient(this.sandbox.clientOptions);
    const common = { amount: 25.5, currency: 'EUR', webhookUrl: 'https://shop.example/callbacks' };
    for (let index = 0; index < count; index++) {
      const { payment } =
        index % 2
          ? await gateway.createDeposit({ ...common, paymentMethod: 'CARD' })
          : await gateway.createWithdrawal({ ...common, paymentMethod: 'SEPA' });
      const final = ['COMPLETED', 'COMPLETED', 'FAILED', 'CANCELED'][index % 4] ?? '';
      this.#paths.set(payment.id, ['PENDING', 'AUTHORIZED', final]);
      this.#bodies.set(`${payment.id} PENDING`, JSON.stringify(this.sandbox.payments.at(-1)));
    }
    return [...this.#paths.keys()];
  }

  finalOf(id: string): string {
    return this.#paths.get(id)?.at(-1) ?? '';
  }

  /** The body of a payment's callback at a stage of its path; moves the payment there if it has not come so far. */
  async callback(id: string, stage: number): Promise<string> {
    const path = this.#paths.get(id) ?? [];
    // One after the other: two that move it at once would move it twice.
    const moving = (this.#moving.get(id) ?? Promise.resolve()).then(() => this.#move(id, path.slice(1, stage + 1)));
    this.#moving.set(id, moving);
    await moving;
    return this.#bodies.get(`${id} ${path[stage]}`) ?? '';
  }

  async #move(id: string, statuses: string[]): Promise<void> {
    for (const status of statuses) {
      if (this.#bodies.has(`${id} ${status}`)) continue;
      if (status === 'AUTHORIZED') await this.sandbox.authorize(id);
      if (status === 'COMPLETED') await this.sandbox.complete(id);
      if (status === 'FAILED') await this.sandbox.fail(id);
      if (status === 'CANCELED') await this.sandbox.cancel(id);
      await this.sandbox.idle();
    }
  }
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map(item => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

/** Posts until it is answered for good, as a gateway that redelivers would. */
async function deliver(worker: Worker, body: string, statuses = new Map<number, number>()): Promise<void> {
  for (;;) {
    const status = await fetch(worker.url, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(20_000),
    }).then(
      async response => {
        await response.text();
        return response.status;
      },
      () => 0,
    );
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 200) return;
    if (status !== 0 && status !== 503) throw new Error(`A callback was answered ${status}.`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

function scenes(open: () => Promise<Ledger>): void {
  // A small part of the proof keeps `npm test` short.
  const [processes, payments, copies] = isFull ? [4, 40, 2] : [3, 20, 1];
  let ledger: Ledger;
  let market: Market;
  let server: { url: string; close(): Promise<void> };
  let workers: Worker[] = [];

  async function start(count: number, options: Partial<WorkerOptions> = {}): Promise<void> {
    ledger = await open();
    market = new Market();
    server = await market.sandbox.listen();
    workers = Array.from(
      { length: count },
      () => new Worker({ ...ledger.options, GATEWAY_URL: server.url, ...options }),
    );
    await Promise.all(workers.map(worker => worker.start()));
  }

  afterEach(async () => {
    for (const worker of workers) worker.stop();
    await server.close();
    await ledger.close();
  });

  /** What happened to each payment, in order. */
  async function effectsById(): Promise<Map<string, string[]>> {
    const byId = new Map<string, string[]>();
    for (const [id, status] of await ledger.effects()) byId.set(id, [...(byId.get(id) ?? []), status]);
    return byId;
  }

  async function expectOneFinalEffectEach(ids: string[]): Promise<void> {
    const byId = await effectsById();
    for (const id of ids) {
      const effects = byId.get(id) ?? [];
      expect([id, effects.at(-1)]).toEqual([id, market.finalOf(id)]);
      expect([id, new Set(effects).size]).toEqual([id, effects.length]);
    }
  }

  it(`${processes} processes get ${3 * payments} callbacks ${copies} times each, shuffled: each final status takes effect once, and nothing after it`, {
    timeout: 240_000,
  }, async () => {
    await start(processes);
    const ids = await market.open(payments);
    const callbacks = ids.flatMap(id => [0, 1, 2].map(stage => [id, stage] as const));
    await Promise.all(
      workers.map((worker, index) => {
        // Two have the same order, so that they often meet. Without the lock of payments that gives as many double effects with a
        // third of the payments as orders of their own give, in half of the time.
        const mixed = shuffled(Array(copies).fill(callbacks).flat(), seeded(index >> 1)) as typeof callbacks;
        return inParallel(mixed, 4, async ([id, stage]) => deliver(worker, await market.callback(id, stage)));
      }),
    );
    await expectOneFinalEffectEach(ids);

    const before = await ledger.effects();
    await inParallel(shuffled(callbacks, seeded(99)), 16, async ([id, stage]) => {
      await deliver(workers[stage] as Worker, await market.callback(id, stage));
    });
    expect(await ledger.effects()).toEqual(before);
  });

  it('workers are killed at any moment and inside onPayment, and callbacks come again', {
    timeout: 240_000,
  }, async () => {
    await start(4, { KILL: '0.05' });
    const ids = await market.open(isFull ? 20 : 6);
    let answered = 0;
    // After so many answers, and not by a clock: where processes start slowly, they would do nothing else.
    const perhapsKill = () => {
      answered += 1;
      if (answered % 20 === 0) workers[(answered / 20) % workers.length]?.kill();
    };
    const callbacks = ids.flatMap(id => [0, 1, 2].map(stage => [id, stage] as const));
    await Promise.all(
      workers.map((worker, index) =>
        inParallel(shuffled(callbacks, seeded(index)), 4, async ([id, stage]) => {
          await deliver(worker, await market.callback(id, stage));
          perhapsKill();
        }),
      ),
    );
    await expectOneFinalEffectEach(ids);
  });

  it('the store and the gateway each go away until callbacks are answered 503, and nothing is lost', {
    timeout: 60_000,
  }, async () => {
    ledger = await open();
    market = new Market();
    server = await market.sandbox.listen();
    const store = await openProxy(ledger.port);
    const gateway = await openProxy(Number(new URL(server.url).port));
    const options = {
      ...ledger.options,
      STORE_PORT: String(store.port),
      GATEWAY_URL: `http://127.0.0.1:${gateway.port}`,
    };
    workers = [await new Worker(options).start(), await new Worker(options).start()];
    const ids = await market.open(80);
    const statuses = new Map<number, number>();
    const count = () => statuses.get(503) ?? 0;
    const outage = async (proxy: typeof store) => {
      proxy.down();
      const before = count();
      await expect.poll(count).toBeGreaterThan(before + 10);
      proxy.pass();
    };
    let begun = 0;
    const outages: Promise<void>[] = [];
    const callbacks = shuffled(
      ids.flatMap(id => [0, 1, 2].map(stage => [id, stage] as const)),
      seeded(7),
    );
    await inParallel(callbacks, 8, async ([id, stage]) => {
      begun += 1;
      if (begun === 40) outages.push(outage(store));
      if (begun === 140) outages.push(Promise.resolve(outages[0]).then(() => outage(gateway)));
      await deliver(workers[stage % 2] as Worker, await market.callback(id, stage), statuses);
    });
    await Promise.all(outages);
    await expectOneFinalEffectEach(ids);
    store.close();
    gateway.close();
  });
}

describeOver('callbacks in many processes', ({ name, port }) => scenes(() => overDatabase(name, port)), {
  isLong: true,
});
