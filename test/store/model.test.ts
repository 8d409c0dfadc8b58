// Clients, a store and a gateway under every order of events that fast-check can think of: creates, planned payouts,
// processes that crash at any await, requests and answers that get lost or come late, errors that name ids, a gateway that
// folds references and rounds amounts, callbacks that come early, operators at any moment, and time. Whatever happens, no
// reference has a second payment, and every doubt has a true exit.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type Created, GatewayClient, type GatewayEvent } from 'payment-gateway-sdk';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readClientOptions } from '../../src/client-options.ts';
import type { FetchInit } from '../../src/http/own-fetch.ts';
import { create as createIn } from '../../src/payments/create.ts';
import { type Gateway as Opened, openGateway } from '../../src/payments/gateway.ts';
import { openPlan } from '../../src/store/rules/plan.ts';
import { SEED } from '../properties/arbitraries.ts';
import { type Creates, memoryCreates, reconcile, storeOf } from '../support/creates.ts';
import { KEYS } from '../support/fixtures.ts';
import { isFull } from '../support/skips.ts';
import { json, networkError } from '../support/wire.ts';

/** CI plays ten times as many. */
const RUNS = isFull ? 1_000 : 50;
const REFERENCES = ['payout-1', 'payout-2', 'payout-3'];
const PROCESSES = 3;
const TIMEOUT = 10_000;
const MARGIN = 60_000;
/** Milliseconds that a packet is on its way at most: less than the margin. */
const LATEST = 50_000;
/** Milliseconds of upkeep's lease of a plan, and of the longest pause of a plan. */
const LEASE = 120_000;
const LONGEST_PAUSE = 900_000;

const request = (reference: string, amount: number) =>
  ({
    paymentMethod: 'CARD',
    amount,
    currency: 'EUR',
    reference,
    webhookUrl: 'https://shop.example/callbacks',
  }) as const;

const FATES = [
  'arrives',
  'is lost',
  'arrives late',
  'arrives, and its answer is lost',
  'arrives, and its answer is cut',
  'arrives, and is answered 500 with its id',
  'arrives, and is answered 422 with its record',
  'is refused, and kept as failed',
  'is refused',
  'is answered 403',
  'is answered 429',
  'does not leave',
  'is answered 500 with the id of a trace',
  'is answered 422 with the id of another payment',
] as const;
/** What becomes of a request on its way. */
type Fate = (typeof FATES)[number];

/** A process that stands at an await, until it is let go. */
interface Gate {
  process: number;
  /** A request that has left, and is not at the gateway yet. */
  deliver?: () => unknown;
  open(fate: Fate): void;
}

/** How a gateway writes what it was sent. */
interface Habits {
  folds: boolean;
  rounds: boolean;
  /** With one alone, more happens to it. */
  references: number;
}

interface Made {
  id: string;
  paymentStatus: string;
  paymentType: string;
  reference: string;
  amount: number;
  currency: string;
  redirectUrl: string;
  /** It was refused: nobody could ever pay it. */
  isRefused?: boolean;
}

/** A gateway that takes everything: it knows no reference twice. */
class Gateway {
  readonly payments: Made[] = [];
  /** By the reference that it was sent. */
  readonly byReference = new Map<string, Made[]>();
  readonly #habits: Habits;
  constructor(habits: Habits) {
    this.#habits = habits;
  }

  create(body: string): Made {
    const { reference, amount, currency, paymentType } = JSON.parse(body);
    const { folds, rounds } = this.#habits;
    const made: Made = {
      id: randomUUID(),
      paymentStatus: 'PENDING',
      paymentType,
      currency,
      reference: folds ? ` ${reference.toUpperCase()}` : reference,
      amount: rounds ? Math.round(amount) : amount,
      redirectUrl: `https://pay.example/${this.payments.length}`,
    };
    this.payments.push(made);
    this.byReference.set(reference, [...this.of(reference), made]);
    return made;
  }

  of(reference: string): Made[] {
    return this.byReference.get(reference) ?? [];
  }

  /** Those that a customer could, or can, pay. */
  payableOf(reference: string): Made[] {
    return this.of(reference).filter(({ isRefused }) => !isRefused);
  }

  /** A payment ends, as far as it has not. */
  end(index: number, paymentStatus: string): void {
    const made = this.payments[index % Math.max(this.payments.length, 1)];
    if (made?.paymentStatus === 'PENDING') made.paymentStatus = paymentStatus;
  }

  lookUp(id: string): Response {
    const found = this.payments.find(payment => payment.id === id);
    const { redirectUrl, isRefused, ...shown } = found ?? {};
    return found ? json(JSON.stringify({ result: shown })) : json('{}', 404);
  }
}

/** What upkeep works with. */
interface Worker {
  creates: Creates;
  gateway: Opened;
}

class World {
  readonly gateway: Gateway;
  readonly creates = memoryCreates({ scope: 'model', settleMargin: MARGIN });
  /** References that the merchant's own transactions have planned. */
  readonly planned = new Set<string>();
  gates: Gate[] = [];
  readonly clients: GatewayClient[] = [];
  readonly workers: Worker[] = [];
  /** Payments that a callback has told the store of. */
  readonly told = new Set<string>();
  /** What a shop was told to do. */
  readonly actions = new Map<string, Created['nextAction']>();
  /** References whose shop was told that the payment has failed, so that it takes a new one. */
  readonly toldFailed = new Set<string>();
  /** References that an operator has settled with a payment which was refused. */
  readonly excused = new Set<string>();
  /** References whose payment, next action and all, the store has kept. */
  readonly recorded = new Set<string>();
  readonly habits: Habits;
  /** A client that nothing stops, over the same store. */
  readonly observer: GatewayClient;
  readonly worker: Worker;

  constructor(habits: Habits) {
    this.habits = habits;
    this.gateway = new Gateway(habits);
    const fetch = async (url: string, init: FetchInit) =>
      init.method === 'GET'
        ? this.gateway.lookUp(url.split('/').at(-1) ?? '')
        : json(JSON.stringify({ result: this.gateway.create(Buffer.from(init.body ?? []).toString()) }), 201);
    const creates = { ...this.creates };
    const options = { ...KEYS, fetch, store: storeOf(creates), timeout: TIMEOUT, retries: 0 };
    this.observer = new GatewayClient(options);
    this.worker = { creates, gateway: openGateway(readClientOptions(options)) };
    for (let process = 0; process < PROCESSES; process++) this.start(process);
  }

  /** A new process in place of one that has crashed: it remembers nothing. */
  start(process: number): void {
    const gate = <T>(deliver?: () => T) =>
      new Promise<Fate>(open => this.gates.push({ process, ...(deliver && { deliver }), open }));
    const gated = (['read', 'insert', 'replace', 'list', 'claim'] as const).map(name => [
      name,
      async (...told: never[]) => {
        await gate();
        const answer = await (this.creates[name] as (...told: never[]) => unknown)(...told);
        await gate();
        return answer;
      },
    ]);
    const creates: Creates = { ...this.creates, ...Object.fromEntries(gated) };
    const options = {
      ...KEYS,
      fetch: (url: string, init: FetchInit) => this.carry(url, init, gate),
      store: storeOf(creates),
      timeout: TIMEOUT,
      retries: 0,
      onEvent: (event: GatewayEvent) => {
        if (event.type === 'store' && event.change === 'created') this.recorded.add(event.reference ?? '');
      },
    };
    this.clients[process] = new GatewayClient(options);
    this.workers[process] = { creates, gateway: openGateway(readClientOptions(options)) };
  }

  /** Carries a call to the gateway, and its answer back, as fate has it. */
  async carry(url: string, init: FetchInit, gate: (deliver?: () => unknown) => Promise<Fate>): Promise<Response> {
    if (init.method === 'GET') {
      await gate();
      return this.gateway.lookUp(url.split('/').at(-1) ?? '');
    }
    const body = Buffer.from(init.body ?? []).toString();
    const take = () => this.gateway.create(body);
    const sentAt = Date.now();
    const fate = await gate(() => Date.now() - sentAt <= LATEST && take());
    if (init.signal.aborted) throw init.signal.reason;
    if (fate === 'is lost') throw networkError('ECONNRESET', 'read');
    if (fate === 'does not leave') throw networkError('ECONNREFUSED', 'connect');
    if (fate === 'is refused') return json('{"error":"declined"}', 422);
    if (fate === 'is answered 403' || fate === 'is answered 429') return json('{}', Number(fate.slice(-3)));
    if (fate === 'is answered 500 with the id of a trace') return json(JSON.stringify({ id: randomUUID() }), 500);
    if (fate === 'is answered 422 with the id of another payment') {
      const { id } = this.gateway.payments.find(({ amount }) => amount !== JSON.parse(body).amount) ?? {};
      return json(JSON.stringify({ error: { id } }), 422);
    }
    if (fate === 'arrives late') {
      setTimeout(take, LATEST);
      throw networkError('ECONNRESET', 'read');
    }
    const made = take();
    if (fate === 'is refused, and kept as failed') {
      Object.assign(made, { paymentStatus: 'FAILED', isRefused: true });
      await gate();
      return json('{"error":"declined"}', 422);
    }
    await gate();
    const answer = JSON.stringify({ result: made });
    if (fate === 'arrives, and its answer is lost') throw networkError('ECONNRESET', 'read');
    if (fate === 'arrives, and its answer is cut') return json(answer.slice(0, answer.indexOf(made.id) + 40), 201);
    if (fate === 'arrives, and is answered 500 with its id') return json(JSON.stringify({ id: made.id }), 500);
    // A proxy that sends a request twice gets this for the second one.
    if (fate === 'arrives, and is answered 422 with its record') {
      return json(JSON.stringify({ error: 'exists', result: made }), 422);
    }
    return json(answer, 201);
  }

  /** Sends planned payouts, as upkeep does. @returns how many there were, and how many were created */
  async sendPlans({ creates, gateway }: Worker): Promise<{ due: number; sent: number }> {
    const { rows } = await creates.claim({ states: ['planned'] }, 2, LEASE);
    const sent = rows.map(async plan => {
      const { request, extra } = openPlan(plan.body ?? '');
      return createIn(gateway, 'payment', request, { extra }, { plan }).then(
        () => 1,
        () => 0,
      );
    });
    return { due: rows.length, sent: (await Promise.all(sent)).reduce<number>((sum, one) => sum + one, 0) };
  }

  /** The operator has asked the gateway's support, and says what is true now. */
  async operate(reference: string): Promise<void> {
    const [payment] = [...this.gateway.payableOf(reference), ...this.gateway.of(reference)];
    const all = ['reference', 'amount', 'paymentId'] as const;
    if (payment?.isRefused) this.excused.add(reference);
    const own = { despite: payment ? all : (['paymentId'] as const) };
    await this.observer.settle(reference, payment?.id ?? 'not_created', own);
  }

  /** A create that nothing stops, by the request that the store has, or any. */
  async createQuietly(reference: string): Promise<void> {
    const { amount = '75.4' } = (await this.observer.find(reference)) ?? {};
    const created = await this.observer.createWithdrawal(request(reference, Number(amount))).catch(() => undefined);
    if (created?.payment.paymentStatus === 'FAILED') this.toldFailed.add(reference);
  }

  async check(): Promise<void> {
    await vi.advanceTimersByTimeAsync(0);
    const twice = REFERENCES.filter(reference => this.gateway.payableOf(reference).length > 1);
    // Thousands of times: an assertion takes longer than the look.
    if (twice.length > 0) expect(twice).toEqual([]);
  }

  /** Lets every process go on until nothing is left to do. */
  async settleDown(): Promise<void> {
    for (let rounds = 0; rounds < 200; rounds++) {
      for (const gate of this.gates.splice(0)) gate.open('arrives');
      await vi.advanceTimersByTimeAsync(rounds < 100 ? 0 : 500);
    }
  }
}

type Command = fc.AsyncCommand<object, World>;

/** A command as a function, and how it reads in a counterexample. */
const command = (name: string, run: (world: World) => Promise<unknown> | unknown): Command => ({
  check: () => true,
  run: async (_model, world) => {
    await run(world);
    await world.check();
  },
  toString: () => name,
});

const process = fc.nat(PROCESSES - 1);
/** One of those that the world has. */
const reference = fc.nat(2);
const nameOf = (index: number, { habits }: World): string => REFERENCES[index % habits.references] ?? '';

const create = fc.tuple(process, reference, fc.constantFrom(75.4, 75.4, 75.4, 76)).map(([process, index, amount]) =>
  command(`process ${process} creates reference ${index} of ${amount}`, world => {
    const reference = nameOf(index, world);
    world.clients[process]?.createWithdrawal(request(reference, amount)).then(
      ({ payment, nextAction, replayed }) => {
        if (!replayed) world.actions.set(reference, nextAction);
        if (payment.paymentStatus === 'FAILED') world.toldFailed.add(reference);
      },
      () => {},
    );
  }),
);

const plan = fc.tuple(reference, fc.constantFrom(75.4, 75.4, 75.4, 76)).map(([index, amount]) =>
  command(`the merchant plans reference ${index} of ${amount}`, async world => {
    const reference = nameOf(index, world);
    await world.observer.payOut({}, request(reference, amount)).then(
      ({ state }) => state === 'planned' && world.planned.add(reference),
      () => {},
    );
  }),
);

const send = process.map(process =>
  command(`process ${process} sends plans`, world => {
    const worker = world.workers[process];
    if (worker) world.sendPlans(worker).catch(() => {});
  }),
);

const step = fc
  .tuple(fc.nat(9), fc.constantFrom<Fate>('arrives', 'arrives', 'arrives', 'arrives', 'arrives', 'arrives', ...FATES))
  .map(([index, fate]) =>
    command(`gate ${index} opens: a request ${fate}`, world => {
      const [gate] = world.gates.splice(index % Math.max(world.gates.length, 1), 1);
      gate?.open(fate);
    }),
  );

const crash = fc.tuple(process, fc.boolean()).map(([process, arrives]) =>
  command(`process ${process} crashes, and its requests ${arrives ? 'arrive' : 'are lost'}`, world => {
    const abandoned = world.gates.filter(gate => gate.process === process);
    world.gates = world.gates.filter(gate => gate.process !== process);
    world.start(process);
    if (arrives) for (const { deliver } of abandoned) deliver?.();
  }),
);

const tick = fc
  .constantFrom(100, 5_000, TIMEOUT + 1, MARGIN)
  .map(ms => command(`${ms} ms go by`, () => vi.advanceTimersByTimeAsync(ms)));

const callback = fc.tuple(process, fc.nat(5)).map(([process, index]) =>
  command(`process ${process} gets the callback of payment ${index}`, async world => {
    const { payments } = world.gateway;
    const id = payments[index % Math.max(payments.length, 1)]?.id;
    if (!id) return;
    const payment = await world.observer.getPayment(id);
    const client = world.clients[process];
    if (!client) return;
    reconcile(client, payment).then(
      () => world.told.add(id),
      () => {},
    );
  }),
);

const end = fc
  .tuple(fc.nat(5), fc.constantFrom('COMPLETED', 'FAILED'))
  .map(([index, status]) => command(`payment ${index} is ${status}`, world => world.gateway.end(index, status)));

const operator = reference.map(index =>
  command(`the operator settles reference ${index}`, async world => {
    await world.operate(nameOf(index, world)).catch(() => {});
  }),
);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('no reference ever has a second payment, no told payment is unknown, no next action is lost, and every doubt ends', {
  timeout: 240_000,
  tags: 'long',
}, async () => {
  const commands = fc.commands(
    [create, create, plan, send, step, step, step, step, step, crash, tick, callback, end, operator],
    {
      maxCommands: 60,
      size: 'max',
    },
  );
  const habits = fc.record({ folds: fc.boolean(), rounds: fc.boolean(), references: fc.constantFrom(1, 1, 3) });
  const seen = { payments: 0, doubts: 0, told: 0, actions: 0, settled: 0, freed: 0, failed: 0, planned: 0, sent: 0 };
  await fc.assert(
    fc.asyncProperty(habits, commands, async (habits, commands) => {
      const world = new World(habits);
      await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
      await world.settleDown();
      await world.check();

      // What is still planned is sent, whatever became of the process that had it.
      await vi.advanceTimersByTimeAsync(LEASE + LONGEST_PAUSE);
      for (let isDone = false; !isDone; ) {
        const { due, sent } = await world.sendPlans(world.worker);
        seen.sent += sent;
        isDone = due === 0;
      }
      expect((await world.creates.list({ states: ['planned'] })).rows).toEqual([]);
      await world.check();
      seen.planned += world.planned.size;

      const doubts = (await world.creates.list({ states: ['begun'] })).rows;
      seen.doubts += doubts.length;
      seen.told += world.told.size;
      seen.payments += world.gateway.payments.length;
      seen.actions += world.actions.size;

      for (const reference of REFERENCES) {
        const [payment] = world.gateway.payableOf(reference);
        const doubt = doubts.find(doubt => doubt.reference === reference);
        // A payment that a callback has told of is known, if it is written as it was sent.
        const isKnown = payment !== undefined && world.told.has(payment.id) && payment.paymentStatus !== 'FAILED';
        if (isKnown && payment.reference === reference && payment.amount === Number(doubt?.amount)) {
          expect(doubt).toBeUndefined();
        }
        // What the shop was told to do, and the store has kept, it is told again.
        const action = world.recorded.has(reference) ? world.actions.get(reference) : undefined;
        if (action && payment) {
          const amount = Number((await world.observer.find(reference))?.amount);
          const again = await world.observer.createWithdrawal(request(reference, amount));
          const isPending = payment.paymentStatus === 'PENDING';
          expect([again.replayed, again.nextAction]).toEqual([true, isPending ? action : { type: 'wait' }]);
          expect([again.payment.id, again.payment.paymentStatus]).toEqual([payment.id, payment.paymentStatus]);
        }
        // And now that all is quiet: a create makes the first payment, or none.
        await world.createQuietly(reference);
      }
      await world.check();

      // Once nothing can arrive any more, every doubt has an exit that is true.
      await vi.advanceTimersByTimeAsync(TIMEOUT + MARGIN + LATEST);
      await world.check();
      for (const { reference } of await world.observer.doubts()) {
        await world.operate(reference);
        const entry = await world.observer.find(reference);
        const [payment] = [...world.gateway.payableOf(reference), ...world.gateway.of(reference)];
        expect([entry?.state, entry?.paymentId]).toEqual(payment ? ['created', payment.id] : ['freed', undefined]);
        if (payment) seen.settled += 1;
        else seen.freed += 1;
        await world.createQuietly(reference);
        // A gateway that changes what it was sent leaves a doubt again, with the payment's id.
        await world.operate(reference).catch(() => {});
      }
      expect(await world.observer.doubts()).toEqual([]);
      await world.check();
      // Nobody takes a new reference while somebody can pay under this one.
      for (const reference of world.toldFailed) {
        const payable = world.gateway.payableOf(reference).filter(({ paymentStatus }) => paymentStatus !== 'FAILED');
        if (!world.excused.has(reference)) expect([reference, payable]).toEqual([reference, []]);
      }
      seen.failed += world.toldFailed.size;
    }),
    { numRuns: RUNS, seed: SEED },
  );
  // The model has been where it hurts.
  expect(seen.payments).toBeGreaterThan(RUNS / 2);
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(RUNS / 40);
});
