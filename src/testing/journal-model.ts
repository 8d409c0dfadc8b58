// Plays creates over a journal in random order: crashes at any await, lost requests and answers, early callbacks and
// operators. No reference is ever paid twice.
import { deepEqual, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Deadline, delay } from '../deadline.ts';
import { ConnectionError, PaymentNotFoundError } from '../errors.ts';
import type { Journal, JournalStore } from '../journal/contract.ts';
import { createOnce } from '../journal/create-once.ts';
import type { JournaledCreate } from '../journal/journaled-create.ts';
import { reconcilePayment } from '../journal/reconcile.ts';
import { settleDoubt } from '../journal/settle.ts';
import type { Payment } from '../schemas/payment.ts';
import { Call } from '../telemetry/call.ts';
import { pick, seeded } from './test-function.ts';

const REFERENCES = ['payout-1', 'payout-2'];
const PROCESSES = 3;
/** Real milliseconds, because the clock is the store's. */
const TIMEOUT = 20;
/** Milliseconds without a gate: only crashed processes are left then. */
const QUIET = 20;

type Fate = 'arrives' | 'is lost' | 'arrives, and its answer is lost';

/** A process that waits at an await until its gate opens. */
interface Gate {
  process: number;
  open(fate: Fate): void;
  /** The process is gone. */
  shut(reason: Error): void;
}

/** Plays one order of events. @throws AssertionError that names the seed */
export async function playCreates(stores: readonly [JournalStore, JournalStore], seed: number): Promise<void> {
  const random = seeded(seed);
  const scope = randomUUID();
  const payments: Payment[] = [];
  let gates: Gate[] = [];
  const crashed: Gate[] = [];
  let isOver = false;
  const pass = (process: number) =>
    isOver ? Promise.reject(GONE) : new Promise<Fate>((open, shut) => gates.push({ process, open, shut }));
  const of = (reference: string) => payments.filter(payment => payment.reference === reference);

  const lookUp = async (id: string): Promise<Payment> => {
    const found = payments.find(payment => payment.id === id);
    if (found) return found;
    throw new PaymentNotFoundError('none', { status: 404, body: '' });
  };

  /** The gateway creates a payment for every request that arrives, even with a known reference. */
  const take = (reference: string, amount: number): Payment => {
    const payment: Payment = {
      id: randomUUID(),
      paymentStatus: 'PENDING',
      paymentType: 'DEPOSIT',
      paymentMethod: 'CARD',
      amount,
      currency: 'EUR',
      reference,
    };
    payments.push(payment);
    return payment;
  };

  /** Makes the journal of a process. Each call waits at a gate before it and after it. */
  const startProcess = (process: number): Journal => {
    const store = pick(random, stores);
    const gated =
      <A extends unknown[], R>(method: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        await pass(process);
        const answer = await method(...args);
        await pass(process);
        return answer;
      };
    return {
      scope,
      read: gated(key => store.read(key)),
      insert: gated(row => store.insert(row)),
      replace: gated((row, revision) => store.replace(row, revision)),
      list: query => store.list(query),
      claim: (query, limit, leaseMs) => store.claim(query, limit, leaseMs),
    };
  };
  const journals = Array.from({ length: PROCESSES }, (_, process) => startProcess(process));
  const running = new Set<Promise<unknown>>();

  const call = new Call('create', {});
  const create = (process: number, reference: string): JournaledCreate => {
    const amount = random() < 0.8 ? 75 : 76;
    const request = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount, currency: 'EUR', reference } as const;
    const lost = (outcome: 'not_sent' | 'unknown') => new ConnectionError('lost', 'ECONNRESET', { outcome });
    const send = async (deadline: Deadline) => {
      const fate = await pass(process);
      if (deadline.isPast) throw lost('not_sent');
      if (fate === 'is lost') throw lost('unknown');
      const payment = take(reference, amount);
      if (fate === 'arrives, and its answer is lost') throw lost('unknown');
      return { payment };
    };
    return {
      journal: journals[process] as Journal,
      scope,
      call,
      request,
      fields: request,
      timeout: TIMEOUT,
      send,
      lookUp,
    };
  };

  const check = () => {
    for (const reference of REFERENCES) ok(of(reference).length <= 1, `seed ${seed}: ${reference} was paid twice`);
  };

  for (let step = 0; step < 40; step++) {
    const process = Math.floor(random() * PROCESSES);
    const reference = pick(random, REFERENCES);
    const what = random();
    if (what < 0.2) {
      const creating = createOnce(create(process, reference)).catch(() => {});
      running.add(creating);
      creating.then(() => running.delete(creating));
    } else if (what < 0.75) {
      const [gate] = gates.splice(Math.floor(random() * gates.length), 1);
      gate?.open(pick(random, ['arrives', 'arrives', 'arrives', 'is lost', 'arrives, and its answer is lost']));
    } else if (what < 0.82) {
      // A crash: the gates of the process never open.
      crashed.push(...gates.filter(gate => gate.process === process));
      gates = gates.filter(gate => gate.process !== process);
      journals[process] = startProcess(process);
    } else if (what < 0.88) {
      await delay(TIMEOUT / 2);
    } else {
      const client = { journal: { ...stores[0], scope, settleMargin: 0 } as Journal, scope, call };
      const [payment] = of(reference);
      const resolution = payment?.id ?? 'not_created';
      if (payment && what < 0.94) await reconcilePayment(client, payment, lookUp);
      else await settleDoubt(client, { reference, resolution, despite: [] }, lookUp).catch(() => {});
    }
    await new Promise(setImmediate);
    check();
  }

  // The remaining creates run to their end.
  for (let quiet = 0; quiet < QUIET && running.size > 0; quiet++) {
    if (gates.length > 0) quiet = 0;
    for (const gate of gates.splice(0)) gate.open('arrives');
    await delay(1);
  }
  check();
  // The callbacks of all payments settle all doubts that have a payment.
  const client = { journal: { ...stores[1], scope } as Journal, scope, call };
  for (const payment of payments) await reconcilePayment(client, payment, lookUp);
  const { rows } = await stores[0].list({ scope, states: ['begun'] });
  deepEqual(
    rows.filter(({ reference }) => of(reference).length > 0),
    [],
    `seed ${seed}: a doubt is left although its callback came`,
  );

  // Crashed processes must not wait forever.
  isOver = true;
  for (const { shut } of [...crashed, ...gates]) shut(GONE);
}

const GONE = new Error('This process is gone.');
