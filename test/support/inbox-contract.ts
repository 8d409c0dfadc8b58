// What every inbox must keep, whatever it stores its marks in.
import { randomUUID } from 'node:crypto';
import type { Inbox, InboxEvent } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';

const gate = () => Promise.withResolvers<void>();

/** @param open two inboxes over the same store, as two replicas have them */
export function inboxContract(name: string, open: () => [Inbox, Inbox] | Promise<[Inbox, Inbox]>): void {
  describe(name, () => {
    const event = (status: string, paymentId: string = randomUUID()): InboxEvent => ({
      paymentId,
      status,
      final: ['COMPLETED', 'FAILED', 'CANCELED'].includes(status),
    });

    /** Runs an event, and says whether its work was done. */
    async function run(inbox: Inbox, told: InboxEvent): Promise<string> {
      let worked = false;
      const result = await inbox.run(told, async () => {
        worked = true;
      });
      return `${result}${worked ? ', worked' : ''}`;
    }

    it('lets a status take effect once, in whichever replica it comes', async () => {
      const [a, b] = await open();
      const told = event('COMPLETED');
      expect([await run(a, told), await run(b, told), await run(a, told)]).toEqual([
        'ran, worked',
        'already',
        'already',
      ]);
    });

    it('lets each status of a payment take effect, in order', async () => {
      const [a, b] = await open();
      const id = randomUUID();
      const results = [];
      for (const [index, status] of ['PENDING', 'AUTHORIZED', 'COMPLETED'].entries()) {
        results.push(await run(index % 2 ? b : a, event(status, id)));
      }
      expect(results).toEqual(Array(3).fill('ran, worked'));
    });

    it('lets nothing that is not final take effect after a final status', async () => {
      const [a, b] = await open();
      const id = randomUUID();
      expect(await run(a, event('COMPLETED', id))).toBe('ran, worked');
      expect(await run(b, event('AUTHORIZED', id))).toBe('already');
      expect(await run(b, event('SOMETHING_NEW', id))).toBe('already');
    });

    it('lets a different final status still take effect, once', async () => {
      const [a, b] = await open();
      const id = randomUUID();
      expect(await run(a, event('COMPLETED', id))).toBe('ran, worked');
      expect(await run(b, event('FAILED', id))).toBe('ran, worked');
      expect([await run(a, event('FAILED', id)), await run(b, event('COMPLETED', id))]).toEqual([
        'already',
        'already',
      ]);
    });

    it('is busy while another worker is at the payment, and free for other payments', async () => {
      const [a, b] = await open();
      const told = event('COMPLETED');
      const [entered, leave] = [gate(), gate()];
      const first = a.run(told, async () => {
        entered.resolve();
        await leave.promise;
      });
      await entered.promise;
      expect(await run(b, told)).toBe('busy');
      expect(await run(b, event('FAILED', told.paymentId))).toBe('busy');
      expect(await run(b, event('COMPLETED'))).toBe('ran, worked');
      leave.resolve();
      expect(await first).toBe('ran');
      expect(await run(b, told)).toBe('already');
    });

    it('leaves no mark, and no lock, when the work throws', async () => {
      const [a, b] = await open();
      const told = event('COMPLETED');
      const failing = a.run(told, async () => {
        throw new Error('the shop is on fire');
      });
      await expect(failing).rejects.toThrow('the shop is on fire');
      expect(await run(b, told)).toBe('ran, worked');
    });

    it('keeps payments and statuses with odd names apart', async () => {
      const [a, b] = await open();
      const id = randomUUID();
      expect(await run(a, { paymentId: id, status: "it's; drop table --", final: false })).toBe(
        'ran, worked',
      );
      expect(await run(b, { paymentId: id, status: '__proto__', final: false })).toBe('ran, worked');
      expect(await run(b, { paymentId: id, status: 'ZAŻÓŁĆ 😀', final: false })).toBe('ran, worked');
      expect(await run(a, { paymentId: id, status: '__proto__', final: false })).toBe('already');
    });

    it('lets one of many at once through', async () => {
      const [a, b] = await open();
      const told = event('COMPLETED');
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => run(index % 2 ? a : b, told)),
      );
      expect(results.filter(result => result === 'ran, worked')).toHaveLength(1);
      expect(
        results.filter(result => result !== 'ran, worked').every(result => /^(busy|already)$/.test(result)),
      ).toBe(true);
    });
  });
}
