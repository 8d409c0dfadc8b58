// What every journal must keep, whatever it stores its references in.
import { randomUUID } from 'node:crypto';
import type { Journal, JournalAttempt, JournalResult, Payment } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { record } from './fixtures.ts';

/** @param open two journals over the same store, as two replicas have them */
export function journalContract(name: string, open: () => [Journal, Journal]): void {
  describe(name, () => {
    const attempt = (changes: Partial<JournalAttempt> = {}): JournalAttempt => ({
      scope: 'terminal-1',
      reference: `order ${randomUUID()}`,
      token: randomUUID(),
      paymentType: 'WITHDRAWAL',
      paymentMethod: 'SEPA',
      amount: '25.5',
      currency: 'EUR',
      bodyHash: 'hash',
      timeoutMs: 60_000,
      ...changes,
    });
    const payment = (id: string = randomUUID()): Payment => ({
      ...JSON.parse(record('created, unwrapped')),
      id,
    });
    const redirected = (id?: string): JournalResult => ({
      payment: payment(id),
      nextAction: { type: 'redirect', redirectUrl: 'https://pay.example/p' },
    });
    const waiting = (id?: string): JournalResult => ({ payment: payment(id), nextAction: { type: 'wait' } });

    it('takes a reference once, and then tells who has it', async () => {
      const [a, b] = open();
      const first = attempt();
      expect(await a.begin(first)).toBeUndefined();
      const { timeoutMs, ...written } = first;
      const standing = await b.begin({ ...first, token: randomUUID(), amount: '99' });
      expect(standing).toEqual({ ...written, since: expect.any(Date) });
      expect(await b.read(first)).toEqual(standing);
      expect(Math.abs(Date.now() - Number(standing?.since))).toBeLessThan(60_000);
    });

    it('keeps scopes apart, and odd references too', async () => {
      const [a] = open();
      for (const reference of ["it's; drop table --", '__proto__', 'ZAŻÓŁĆ 😀', ' ', randomUUID()]) {
        const first = attempt({ reference, scope: randomUUID() });
        expect(await a.begin(first)).toBeUndefined();
        expect(await a.begin({ ...first, scope: randomUUID() })).toBeUndefined();
        expect(await a.begin({ ...first, token: randomUUID() })).toMatchObject({ reference });
      }
    });

    it('takes the same attempt twice as one, until something has happened to it', async () => {
      const [a, b] = open();
      const first = attempt();
      expect([await a.begin(first), await b.begin(first)]).toEqual([undefined, undefined]);
      await a.suspect(first, first.token, randomUUID());
      expect(await b.begin(first)).toMatchObject({ token: first.token });
    });

    it('lets one of many at once begin', async () => {
      const [a, b] = open();
      const { reference } = attempt();
      const begun = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? a : b).begin(attempt({ reference }))),
      );
      expect(begun.filter(standing => standing === undefined)).toHaveLength(1);
    });

    it("keeps the attempt's own answer for ever, next action and all", async () => {
      const [a, b] = open();
      const first = attempt();
      await a.begin(first);
      const result = redirected();
      expect(await a.accept(first, first.token, result)).toEqual({ accepted: true });
      expect(await b.begin({ ...first, token: randomUUID() })).toMatchObject({
        paymentId: result.payment.id,
        result,
      });
      expect(await a.release(first, first.token)).toBe(false);
      expect(await a.abandon(first, first.token)).toBe(false);
      expect(await a.settle(first, first.token, waiting())).toBe(false);
      expect(await b.read(first)).toMatchObject({ result });
    });

    it('settles a doubt by a callback, and lets the richer answer come on top', async () => {
      const [a, b] = open();
      const first = attempt();
      await a.begin(first);
      const { id } = payment();
      expect(await b.settle(first, first.token, waiting(id))).toBe(true);
      expect(await b.settle(first, first.token, waiting(id))).toBe(false);
      expect(await a.accept(first, first.token, redirected(id))).toEqual({ accepted: true });
      expect(await b.read(first)).toMatchObject({ result: { nextAction: { type: 'redirect' } } });
    });

    it('keeps both ids when a callback and the answer tell of different payments', async () => {
      const [a, b] = open();
      const first = attempt();
      await a.begin(first);
      const [early, own] = [waiting(), redirected()];
      await b.settle(first, first.token, early);
      expect(await a.accept(first, first.token, own)).toEqual({ accepted: true, other: early.payment.id });
      expect(await b.read(first)).toMatchObject({ paymentId: own.payment.id, result: own });
      expect(await b.keepStray(first, first.token, early.payment.id)).toBe(true);
    });

    it('lets a doubt learn its id, which then neither is freed nor gives way to another', async () => {
      const [a, b] = open();
      const first = attempt({ timeoutMs: -1000 });
      await a.begin(first);
      const { id } = payment();
      expect(await a.suspect(first, first.token, id)).toEqual({ accepted: true });
      expect(await a.suspect(first, first.token, id.toUpperCase())).toEqual({ accepted: true });
      expect(await a.suspect(first, first.token, randomUUID())).toEqual({ accepted: true, other: id });
      expect([await a.release(first, first.token), await b.abandon(first, first.token)]).toEqual([
        false,
        false,
      ]);
      expect(await b.settle(first, first.token, waiting())).toBe(false);
      expect(await b.read(first)).toMatchObject({ paymentId: id });
      expect(await b.settle(first, first.token, waiting(id))).toBe(true);
    });

    it('frees no reference that another payment has claimed', async () => {
      const [a, b] = open();
      const first = attempt({ timeoutMs: -1000 });
      await a.begin(first);
      const stray = randomUUID();
      await b.keepStray(first, first.token, stray);
      expect([await a.release(first, first.token), await a.abandon(first, first.token)]).toEqual([
        false,
        false,
      ]);
      expect(await b.read(first)).toMatchObject({ strayIds: [stray] });
    });

    it('lets a disproved id give way to the payment, and keeps it as a stray', async () => {
      const [a, b] = open();
      const first = attempt();
      await a.begin(first);
      const [suspected, real] = [randomUUID(), waiting()];
      await a.suspect(first, first.token, suspected);
      expect(await b.settle(first, first.token, real, randomUUID())).toBe(false);
      expect(await b.settle(first, first.token, real, suspected)).toBe(true);
      expect(await a.read(first)).toMatchObject({
        paymentId: real.payment.id,
        result: real,
        strayIds: [suspected],
      });
      expect(await b.settle(first, first.token, waiting(), real.payment.id)).toBe(false);
    });

    it('frees a reference over a disproved id alone, and once its time has passed', async () => {
      const [a, b] = open();
      const [running, over] = [attempt(), attempt({ timeoutMs: -1000 })];
      const suspected = randomUUID();
      for (const one of [running, over]) {
        await a.begin(one);
        await a.suspect(one, one.token, suspected);
      }
      expect(await b.abandon(running, running.token, suspected)).toBe(false);
      expect(await b.read(running)).toMatchObject({ paymentId: suspected });
      expect(await b.abandon(over, over.token, randomUUID())).toBe(false);
      expect(await b.abandon(over, over.token)).toBe(false);
      expect(await b.abandon(over, over.token, suspected)).toBe(true);
    });

    it('frees a reference that was refused, for another attempt', async () => {
      const [a, b] = open();
      const first = attempt();
      await a.begin(first);
      expect(await a.release(first, first.token)).toBe(true);
      expect(await b.read(first)).toBeUndefined();
      expect(await b.begin(attempt({ reference: first.reference }))).toBeUndefined();
    });

    it('lets a late attempt touch nothing of a newer one', async () => {
      const [a, b] = open();
      const old = attempt();
      await a.begin(old);
      await a.release(old, old.token);
      const newer = attempt({ reference: old.reference });
      await b.begin(newer);
      expect(await a.accept(old, old.token, redirected())).toEqual({ accepted: false });
      expect(await a.suspect(old, old.token, randomUUID())).toEqual({ accepted: false });
      expect(await a.settle(old, old.token, waiting())).toBe(false);
      expect(await a.release(old, old.token)).toBe(false);
      expect(await a.abandon(old, old.token)).toBe(false);
      expect(await a.keepStray(old, old.token, randomUUID())).toBe(false);
      const { timeoutMs, ...written } = newer;
      expect(await b.read(old)).toEqual({ ...written, since: expect.any(Date) });
    });

    it('gives an attempt up only after its time has passed', async () => {
      const [a, b] = open();
      const [running, over] = [attempt({ timeoutMs: 60_000 }), attempt({ timeoutMs: -1 })];
      await a.begin(running);
      await a.begin(over);
      expect([await b.abandon(running, running.token), await b.abandon(over, over.token)]).toEqual([
        false,
        true,
      ]);
      expect([await b.read(running), await b.read(over)]).toEqual([expect.any(Object), undefined]);
    });

    it('lists its doubts, with what they know', async () => {
      const [a, b] = open();
      const [bare, suspected, created] = [attempt(), attempt(), attempt()];
      for (const one of [bare, suspected, created]) await a.begin(one);
      const { id } = payment();
      await a.suspect(suspected, suspected.token, id);
      await a.accept(created, created.token, redirected());
      const mine = (await b.inDoubt()).filter(({ reference }) =>
        [bare, suspected, created].some(one => one.reference === reference),
      );
      expect(mine).toEqual([
        { scope: 'terminal-1', reference: bare.reference, since: expect.any(Date), paymentId: undefined },
        { scope: 'terminal-1', reference: suspected.reference, since: expect.any(Date), paymentId: id },
      ]);
    });

    it('gives back a result exactly as it got it', async () => {
      const [a, b] = open();
      const first = attempt();
      await a.begin(first);
      const odd = Object.assign(payment(), {
        description: 'nul \u0000, half \ud83d, é 😀',
        extra: [null, { a: [] }],
      });
      await a.accept(first, first.token, { payment: odd, nextAction: { type: 'wait' } });
      expect((await b.read(first))?.result?.payment).toEqual(odd);
    });
  });
}
