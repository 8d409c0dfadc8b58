// The crash in the middle of a create, at every await of it: real processes, real databases, and SIGKILL. Then many
// processes at once.
import { randomUUID } from 'node:crypto';
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Store } from '../../src/store/contract.ts';
import { CARD } from '../support/fixtures.ts';
import { type CreatorOptions, runCreator } from '../support/processes.ts';
import { isFull } from '../support/skips.ts';
import { uniqueName } from '../support/stores.ts';
import type { Database } from './database.ts';
import { describeOver } from './databases.ts';

describeOver(
  'a create',
  ({ name, open }) => {
    const PREFIX = uniqueName('store');
    const TABLE = `${PREFIX}_rows`;
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    let database: Database;
    let store: Store;
    let server: { url: string; close(): Promise<void> };
    /** A process that has started afresh. */
    let gateway: GatewayClient;

    beforeAll(async () => {
      database = await open({ max: 4 });
      server = await sandbox.listen();
      store = database.store({ scope: 'shop', tablePrefix: PREFIX });
      await store.migrate();
      gateway = new GatewayClient({ ...sandbox.clientOptions, baseUrl: server.url, fetch: undefined, store });
    });
    afterAll(async () => {
      await database.query(`drop table ${TABLE}`);
      await database.end();
      await server.close();
    });

    const run = (options: Pick<CreatorOptions, 'REFERENCES'> & Partial<CreatorOptions>) =>
      runCreator({ DATABASE: name, GATEWAY_URL: server.url, PREFIX, ...options });
    const paymentsOf = (reference: string) => sandbox.payments.filter(payment => payment.reference === reference);
    const isInDoubt = async (reference: string) =>
      (await store.list({ kind: 'create', states: ['begun'] })).rows.some(({ id }) => id === reference);
    const order = { ...CARD, amount: '75.00' };
    const again = (reference: string) => gateway.createDeposit({ ...order, reference });

    /** What stands after the crash: how many payments the gateway has, and whether the store is in doubt. */
    async function standing(reference: string): Promise<string> {
      const count = paymentsOf(reference).length;
      if (await isInDoubt(reference)) return `in doubt, and the gateway has ${count}`;
      const [row] = await database.query(`select state from ${TABLE} where id = ?`, [reference]);
      return `${row?.state ?? 'freed'}, and the gateway has ${count}`;
    }

    /** Time passes for an attempt, without a sleep. */
    const age = (reference: string) =>
      database.query(`update ${TABLE} set begun_at = begun_at - interval '1' day where id = ?`, [reference]);

    /** After the restart: its callback comes, the merchant's code creates it again, an operator settles what is left. */
    async function recover(reference: string): Promise<void> {
      const [made] = paymentsOf(reference);
      if (made) {
        const callback = new Request('https://shop.example', { method: 'POST', body: JSON.stringify(made) });
        expect((await createWebhookHandler({ gateway, onPayment: () => {} })(callback)).status).toBe(200);
        const { payment, replayed } = await again(reference);
        expect([payment.id, replayed]).toEqual([made.id, true]);
      } else if (await isInDoubt(reference)) {
        await expect(again(reference)).rejects.toMatchObject({ name: 'PaymentInDoubtError' });
        await age(reference);
        await gateway.settle(reference, 'not_created');
        await again(reference);
      } else {
        await again(reference);
      }
      expect(paymentsOf(reference)).toHaveLength(1);
      expect(await isInDoubt(reference)).toBe(false);
    }

    /** A call of the create, and what stands before it leaves the process, and once it has. */
    type Call = [call: string, before: string, left: string];
    interface Scene {
      /** The first call to be killed at: the calls before it are those of another scene. */
      from?: string;
      prepare?: (reference: string) => unknown;
      options?: Partial<CreatorOptions>;
      createOf?: (reference: string) => string;
      end?: (reference: string) => Promise<void>;
    }
    /** Before the call, after it has left, and after its answer. */
    const STEPS = 3;

    /** Plays the scene again and again, kills it one step later each time, and expects what stands after each step. */
    async function killAtEveryStep(calls: Call[], { from, prepare, options, createOf, end = recover }: Scene = {}) {
      const play = async (reference: string, dieAt: object) => {
        await prepare?.(reference);
        const played = await run({ ...options, ...dieAt, REFERENCES: reference });
        sandbox.faults.clear();
        return played;
      };
      const whole = await play(randomUUID(), {});
      const names = calls.flatMap(([call]) => [`before ${call}`, `${call} has left`, `${call} is answered`]);
      expect(whole.lines.flatMap(({ step }) => step ?? [])).toEqual(names);
      const first = from === undefined ? 0 : calls.findIndex(([call]) => call === from);
      // Nothing happens between an answer and the next call, so only the last answer has its own kill.
      const last: [number, string][] = [[STEPS * calls.length, calls.at(-1)?.[2] ?? '']];
      const kills = calls.flatMap(([, before, left], index): [number, string][] => [
        [STEPS * index + 1, before],
        [STEPS * index + 2, left],
      ]);
      for (const [dieAt, stands] of [...kills.slice(2 * first), ...last]) {
        const reference = randomUUID();
        const { signal } = await play(reference, { DIE_AT: String(dieAt) });
        expect(signal).toBe('SIGKILL');
        // A request that had left the process still arrives.
        const standsNow = () => standing(createOf?.(reference) ?? reference);
        await expect.poll(standsNow, { message: String(names[dieAt - 1]) }).toBe(stands);
        await end(reference);
      }
    }

    const NOTHING = 'freed, and the gateway has 0';
    const DOUBT = 'in doubt, and the gateway has 0';
    const DOUBT_OF_ONE = 'in doubt, and the gateway has 1';
    const CREATED = 'created, and the gateway has 1';

    /** MySQL answers a write alone, so its row is read. */
    const inMysql = (call: string, stands: string): Call[] => (name === 'Postgres' ? [] : [[call, stands, stands]]);
    const BEGIN: Call[] = [['begin', NOTHING, DOUBT], ...inMysql('read', DOUBT)];

    const callsOf = (left: string, recorded: string): Call[] => [
      ...BEGIN,
      ['the create', DOUBT, left],
      ['recording', left, recorded],
      ...inMysql('read again', recorded),
    ];
    const doubtful: Call[] = ['begin', 'read', 'the lookup'].map(call => [call, DOUBT_OF_ONE, DOUBT_OF_ONE]);
    const later: Call[] = [...doubtful, ['recording', DOUBT_OF_ONE, CREATED], ...inMysql('read again', CREATED)];
    const isCut = () => sandbox.faults.next('commit-then-cut');
    const leaveDoubt = async (reference: string) => {
      isCut();
      await expect(again(reference)).rejects.toMatchObject({ outcome: 'unknown' });
    };
    const wrongKey = { PAYMENT_GATEWAY_SIGN_KEY: 'another' };

    it.each<[name: string, Call[], Scene?]>([
      ['', callsOf(DOUBT_OF_ONE, CREATED)],
      [', and its answer was cut off', callsOf(DOUBT_OF_ONE, DOUBT_OF_ONE), { from: 'recording', prepare: isCut }],
      [', and the gateway refused it', callsOf(DOUBT, NOTHING), { from: 'recording', options: wrongKey }],
      [', and an earlier one has left a doubt', later, { prepare: leaveDoubt }],
    ])('is killed at every step%s', { timeout: 180_000 }, (_, calls, scene) => killAtEveryStep(calls, scene));

    /** After the restart, a payment that exists completes, and the customer clicks again. */
    async function recoverOrder(orderId: string): Promise<void> {
      const paid: unknown[] = [];
      const handler = createWebhookHandler({ gateway, onPaid: outcome => void paid.push(outcome.order) });
      const complete = async (reference: string) => {
        for (const { id } of paymentsOf(reference)) {
          await sandbox.complete(id);
          const callback = new Request('https://shop.example', { method: 'POST', body: JSON.stringify({ id }) });
          expect((await handler(callback)).status).toBe(200);
        }
      };
      const click = () => gateway.checkout(orderId, order);
      await complete(`${orderId}.1`);
      if (paymentsOf(`${orderId}.1`).length === 0) {
        const isDoubt = await isInDoubt(`${orderId}.1`);
        expect((await click()).state).toBe(isDoubt ? 'checking' : 'redirect');
        await age(`${orderId}.1`);
        expect((await click()).state).toBe('redirect');
        await complete(isDoubt ? `${orderId}.2` : `${orderId}.1`);
      }
      expect((await click()).state).toBe('paid');
      expect(paid).toEqual([orderId]);
      expect(sandbox.payments.filter(payment => payment.reference?.startsWith(orderId))).toHaveLength(1);
    }

    it('of a checkout is killed at every step, and the order is paid once', { timeout: 180_000 }, async () => {
      const calls: Call[] = [
        ['begin', NOTHING, NOTHING],
        ...inMysql('read', NOTHING),
        ['begin again', NOTHING, DOUBT],
        ...inMysql('read again', DOUBT),
        ['the create', DOUBT, DOUBT_OF_ONE],
        ['recording', DOUBT_OF_ONE, CREATED],
        ...inMysql('read again', CREATED),
      ];
      const createOf = (order: string) => `${order}.1`;
      await killAtEveryStep(calls, { options: { IS_ORDER: 'yes' }, createOf, end: recoverOrder });
    });

    const [PROCESSES, REFERENCES] = isFull ? [6, 60] : [4, 25];
    it(`of ${REFERENCES} references by each of ${PROCESSES} processes makes ${REFERENCES} payments`, {
      timeout: 180_000,
    }, async () => {
      const references = Array.from({ length: REFERENCES }, () => randomUUID());
      const processes = await Promise.all(
        Array.from({ length: PROCESSES }, (_, index) => {
          // Each begins elsewhere, and they meet.
          const turned = [...references.slice(index * 3), ...references.slice(0, index * 3)];
          return run({ REFERENCES: turned.join(), UNTIL_DONE: 'yes' });
        }),
      );
      const made = new Map(references.map(reference => [reference, paymentsOf(reference)]));
      expect([...made.values()].map(payments => payments.length)).toEqual(Array(REFERENCES).fill(1));
      for (const { lines } of processes) {
        expect(lines).toHaveLength(REFERENCES);
        for (const { reference, id, nextAction } of lines) {
          expect([id, nextAction]).toEqual([made.get(reference)?.[0]?.id, 'redirect']);
        }
      }
      const first = processes.flatMap(({ lines }) => lines.filter(({ replayed }) => !replayed));
      expect(first).toHaveLength(REFERENCES);
    });
  },
  { isLong: true },
);
