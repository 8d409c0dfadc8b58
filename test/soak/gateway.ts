// The gateway of the soak: the sandbox over HTTP. Its faults change every few seconds, its payments move by themselves,
// and some deposits are charged back.
import { setTimeout as delay } from 'node:timers/promises';
import { FAULTS, type Fault, isCallbackFault, isCreateFault, takesMs } from '../../src/sandbox/faults/kinds.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import { between, seeded } from './seeded.ts';

/** Milliseconds until the faults change. */
const WEATHER = 5_000;
/** The highest probability of each fault. */
const MOST = { create: 0.06, lookup: 0.06, callback: 0.2 };
const COUNT = 1_000_000_000;
/** The probability of a burst, its number of equal callbacks, and the probability of a chargeback and of its loss. */
const BURST = 0.03;
const BURST_SIZE = 20;
const CHARGEBACK = 0.1;
const LOST = 0.5;

/** The gateway, with its counts of events and of injected faults. */
export class SoakGateway {
  readonly seen = { calls: 0, callbacks: 0, bursts: 0, chargebacks: 0, lostChargebacks: 0 };
  readonly faults: Record<string, number> = Object.fromEntries(Object.keys(FAULTS).map(fault => [fault, 0]));
  readonly sandbox: Sandbox;
  readonly #random: () => number;
  readonly #moves: () => number;
  /** The running lives of payments. */
  readonly #lives: Promise<void>[] = [];
  /** Payments whose callbacks are lost from now on. */
  readonly #lost = new Set<string>();
  readonly #ports: ReadonlyMap<unknown, number>;
  #isCalm = false;
  readonly #weather: NodeJS.Timeout;

  /** @param ports of the merchant's processes */
  constructor(seed: string, ports: ReadonlyMap<unknown, number>, surprise: (text: string) => void) {
    this.#random = seeded(seed, 'faults');
    this.#moves = seeded(seed, 'moves');
    this.#ports = ports;
    this.sandbox = new Sandbox({
      seed,
      // The judge needs all of its books.
      maxPayments: 1_000_000,
      maxDeliveries: 1_000,
      fetch: (url, init) => this.#post(new URL(url), init),
      onEvent: event => {
        if (event.type !== 'request') return;
        this.seen.calls += 1;
        if (event.method !== 'POST' || !event.paymentId) return;
        this.#lives.push(this.#live(event.paymentId).catch(error => surprise(`A payment's life: ${error}`)));
      },
    });
    this.#change();
    this.#weather = setInterval(() => this.#change(), WEATHER).unref();
  }

  /** Posts to one of the processes, as a load balancer does. A process that has just died loses the callback. */
  async #post({ pathname, search }: URL, init: RequestInit): Promise<Response> {
    this.seen.callbacks += 1;
    if (this.#lost.has(JSON.parse(String(init.body)).id)) return new Response();
    const ports = [...this.#ports.values()];
    const post = () =>
      fetch(`http://127.0.0.1:${ports[between(this.#random, 0, ports.length - 1)]}${pathname}${search}`, init);
    if (this.#isCalm || this.#random() > BURST) return post();
    this.seen.bursts += 1;
    const answers = await Promise.allSettled(Array.from({ length: BURST_SIZE }, post));
    const answer = answers.find(one => one.status === 'fulfilled')?.value;
    if (!answer) throw new Error('No process took a callback of the burst.');
    return answer;
  }

  /** A payment's life: perhaps it is authorized, then it ends, and perhaps it is charged back. */
  async #live(id: string): Promise<void> {
    const [first, second, third] = [2_500, 1_500, 2_000].map(most => between(this.#moves, 20, most));
    const [authorized = 0, end = 0, back = 0, loss = 0] = Array.from({ length: 4 }, this.#moves);
    await delay(first);
    try {
      if (authorized < 0.25) {
        await this.sandbox.authorize(id);
        await delay(second);
      }
      if (end >= 0.9) await this.sandbox.cancel(id);
      else if (end >= 0.75) await this.sandbox.fail(id, { code: 4004 });
      else await this.sandbox.complete(id);
      if (end >= 0.75 || back >= CHARGEBACK) return;
      await delay(third);
      if (loss < LOST) this.#lost.add(id);
      this.seen[loss < LOST ? 'lostChargebacks' : 'chargebacks'] += 1;
      await this.sandbox.fail(id, { force: true });
    } catch (error) {
      // A fault has completed the payment before the answer to its create.
      if ((error as { code?: string }).code !== 'final_state') throw error;
    }
  }

  #change(): void {
    this.#clear();
    for (const fault of Object.keys(FAULTS) as Fault[]) {
      this.#arm(fault, isCallbackFault(fault) ? 'callback' : 'create');
      if (!isCallbackFault(fault) && !isCreateFault(fault)) this.#arm(fault, 'lookup');
    }
  }

  #clear(): void {
    const { armed } = this.sandbox.faults;
    for (const { fault, count } of armed) this.faults[fault] = (this.faults[fault] ?? 0) + COUNT - count;
    this.sandbox.faults.clear();
  }

  #arm(fault: Fault, on: keyof typeof MOST): void {
    // Half of the faults are off at any time.
    const probability = this.#random() < 0.5 ? 0 : this.#random() * MOST[on];
    const ms = between(this.#random, 100, 4_000);
    if (probability === 0) return;
    const options = { probability, count: COUNT, ...(takesMs(fault) && { ms }) };
    this.sandbox.faults.next(fault, { ...options, ...(on !== 'callback' && { on }) });
  }

  /** Ends the faults, every payment and every callback. */
  async calm(): Promise<void> {
    this.#isCalm = true;
    clearInterval(this.#weather);
    this.#clear();
    await Promise.all(this.#lives.splice(0));
    for (const { id, paymentStatus } of this.sandbox.payments) {
      if (paymentStatus === 'PENDING' || paymentStatus === 'AUTHORIZED')
        await this.sandbox.complete(id).catch(() => {});
    }
    await this.sandbox.idle();
  }
}
