// Clients, a journal and a gateway under every order of events that fast-check can think of: processes that crash at any
// await, requests and answers that get lost, callbacks that come early, operators, and time. Whatever happens, no
// reference has a second payment.
import fc from 'fast-check';
import { type Created, type FetchInit, GatewayClient, type Journal, memoryJournal } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { networkError } from '../support/wire.ts';

const REFERENCES = ['payout-1', 'payout-2', 'payout-3'];
const PROCESSES = 3;
const TIMEOUT = 10_000;

const request = (reference: string, amount: number) =>
  ({
    paymentMethod: 'CARD',
    amount,
    currency: 'EUR',
    reference,
    webhookUrl: 'https://shop.example/callbacks',
  }) as const;

/** What befalls a request on its way. */
type Fate = 'arrives' | 'is lost' | 'arrives, and its answer is lost' | 'arrives, and its answer is cut';

/** A process that stands at an await, until it is let go. */
interface Gate {
  process: number;
  /** A request that has left, and is not at the gateway yet. */
  deliver?: () => Promise<unknown>;
  open(fate: Fate): void;
}

class World {
  readonly sandbox = new Sandbox({ fetch: async () => new Response() });
  readonly store = memoryJournal();
  gates: Gate[] = [];
  readonly clients: GatewayClient[] = [];
  /** Payments that a callback has told the journal of. */
  readonly told = new Set<string>();
  /** What a shop was told to do, and a journal has kept. */
  readonly actions = new Map<string, Created['nextAction']>();
  /** References whose shop was warned that the journal could not be told. */
  readonly unrecorded = new Set<string>();

  constructor() {
    for (let process = 0; process < PROCESSES; process++) this.start(process);
  }

  /** A new process in place of one that has crashed: it remembers nothing. */
  start(process: number): void {
    const gate = <T>(deliver?: () => Promise<T>) =>
      new Promise<Fate>(open => this.gates.push({ process, ...(deliver && { deliver }), open }));
    const store = Object.entries(this.store).map(([name, method]) => [
      name,
      typeof method !== 'function'
        ? method
        : async (...told: never[]) => {
            await gate();
            const answer = await (method as (...told: never[]) => unknown)(...told);
            await gate();
            return answer;
          },
    ]);
    const fetch = async (url: string, init: FetchInit) => {
      const send = () => this.sandbox.fetch(url, init as RequestInit);
      const fate = await gate(send);
      if (init.signal.aborted) throw init.signal.reason;
      if (fate === 'is lost') throw networkError('ECONNRESET', 'read');
      const isCut = fate === 'arrives, and its answer is cut' && init.method === 'POST';
      if (isCut) this.sandbox.faults.next('commit-then-cut');
      const answer = await send();
      await gate();
      if (fate === 'arrives, and its answer is lost') throw networkError('ECONNRESET', 'read');
      return answer;
    };
    const journal: Journal = Object.fromEntries(store);
    this.clients[process] = new GatewayClient({
      ...this.sandbox.clientOptions,
      fetch,
      journal,
      timeout: TIMEOUT,
      retries: 0,
      onEvent: event => {
        if (event.type === 'warning' && event.code === 'journal_not_recorded' && event.reference)
          this.unrecorded.add(event.reference);
      },
    });
  }

  /** A client that nothing stops, over the same store. */
  get observer(): GatewayClient {
    return new GatewayClient({ ...this.sandbox.clientOptions, journal: { ...this.store }, timeout: TIMEOUT });
  }

  paymentsOf(reference: string) {
    return this.sandbox.payments.filter(payment => payment.reference === reference);
  }

  async check(): Promise<void> {
    await vi.advanceTimersByTimeAsync(0);
    for (const reference of REFERENCES) {
      const payments = this.paymentsOf(reference);
      expect(payments.length).toBeLessThanOrEqual(1);
    }
  }

  /** Lets every process go on until nothing is left to do. */
  async drain(): Promise<void> {
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
const reference = fc.constantFrom(...REFERENCES);

const create = fc.tuple(process, reference, fc.constantFrom(75, 75, 75, 76)).map(([process, reference, amount]) =>
  command(`process ${process} creates ${reference} of ${amount}`, world => {
    const creating = world.clients[process]?.createDeposit(request(reference, amount));
    creating?.then(
      ({ nextAction, replayed }) => {
        if (!replayed && !world.unrecorded.has(reference)) world.actions.set(reference, nextAction);
      },
      () => {},
    );
  }),
);

const step = fc
  .tuple(
    fc.nat(9),
    fc.constantFrom<Fate>(
      'arrives',
      'arrives',
      'arrives',
      'is lost',
      'arrives, and its answer is lost',
      'arrives, and its answer is cut',
    ),
  )
  .map(([index, fate]) =>
    command(`gate ${index} opens: a request ${fate}`, world => {
      const [gate] = world.gates.splice(index % Math.max(world.gates.length, 1), 1);
      gate?.open(fate);
    }),
  );

const crash = fc.tuple(process, fc.boolean()).map(([process, arrives]) =>
  command(`process ${process} crashes, and its requests ${arrives ? 'arrive' : 'are lost'}`, async world => {
    const abandoned = world.gates.filter(gate => gate.process === process);
    world.gates = world.gates.filter(gate => gate.process !== process);
    world.start(process);
    // A request that had been given up by then went nowhere: its connection was closed.
    if (arrives) for (const { deliver } of abandoned) await deliver?.().catch(() => {});
  }),
);

const tick = fc
  .constantFrom(100, 5_000, TIMEOUT + 1)
  .map(ms => command(`${ms} ms go by`, () => vi.advanceTimersByTimeAsync(ms)));

const callback = fc.tuple(process, fc.nat(5)).map(([process, index]) =>
  command(`process ${process} gets the callback of payment ${index}`, async world => {
    const { payments } = world.sandbox;
    const id = payments[index % Math.max(payments.length, 1)]?.id;
    if (!id) return;
    const payment = await world.observer.getPayment(id);
    world.clients[process]?.reconcile(payment).then(
      () => world.told.add(id),
      () => {},
    );
  }),
);

const operator = reference.map(reference =>
  command(`the operator settles ${reference}, truly`, async world => {
    const [payment] = world.paymentsOf(reference);
    await world.observer.settle(reference, payment?.id ?? 'not_created').catch(() => {});
  }),
);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('no reference ever has a second payment, no told payment is unknown, and no next action is lost', {
  timeout: 120_000,
}, async () => {
  const commands = fc.commands([create, create, step, step, step, step, crash, tick, callback, operator], {
    maxCommands: 60,
    size: 'max',
  });
  const seen = { payments: 0, doubts: 0, told: 0, actions: 0 };
  await fc.assert(
    fc.asyncProperty(commands, async commands => {
      const world = new World();
      await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
      await world.drain();
      await world.check();

      const doubts = (await world.store.list({ states: ['begun'] })).rows;
      seen.doubts += doubts.length;
      seen.told += world.told.size;
      seen.payments += world.sandbox.payments.length;
      seen.actions += world.actions.size;

      for (const reference of REFERENCES) {
        const [payment] = world.paymentsOf(reference);
        const doubt = doubts.find(doubt => doubt.reference === reference);
        // A payment that a callback has told of is known.
        if (payment && world.told.has(payment.id)) expect(doubt).toBeUndefined();
        // What the shop was told to do, it is told again.
        const action = world.actions.get(reference);
        if (action && payment) {
          const again = await world.observer.createDeposit(request(reference, payment.amount));
          expect([again.replayed, again.nextAction]).toEqual([true, action]);
        }
        // And now that all is quiet: a create makes the first payment, or none.
        await world.observer.createDeposit(request(reference, 75)).catch(() => {});
      }
      await world.check();

      // The callbacks of all payments settle all doubts that have a payment.
      for (const { id } of world.sandbox.payments) await world.observer.reconcile(await world.observer.getPayment(id));
      const left = new Set((await world.store.list({ states: ['begun'] })).rows.map(({ reference }) => reference));
      for (const { reference } of world.sandbox.payments) expect(left).not.toContain(reference);
    }),
    { numRuns: 300, seed: 20261121 },
  );
  // The model has been where it hurts.
  expect(seen.payments).toBeGreaterThan(200);
  expect(seen.doubts).toBeGreaterThan(50);
  expect(seen.told).toBeGreaterThan(50);
  expect(seen.actions).toBeGreaterThan(50);
});
