// What lookups say of the ids that a doubt knows.
import { PaymentNotFoundError } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { examine } from '../../src/store/evidence.ts';
import { ID, OTHER_ID } from '../support/fixtures.ts';

const row = {} as never;
const NONE = new PaymentNotFoundError('no such payment', { status: 404, body: '' });
const other = { id: OTHER_ID } as never;
const reading = async (id: string) => (id === OTHER_ID ? other : Promise.reject(NONE));

describe('the ids of a doubt', () => {
  it('that are of no payment, or of another one, are disproved, and the other payments are told', async () => {
    expect(await examine(row, [], reading, () => false)).toEqual({ disproved: [], others: [] });
    expect(await examine(row, [ID, OTHER_ID], reading, () => false)).toEqual({
      disproved: [ID, OTHER_ID],
      others: [other],
    });
  });

  it('are looked up until one can be that of its payment', async () => {
    const examined = await examine(row, [ID, OTHER_ID, ID], reading, () => true);
    expect(examined).toEqual({ match: other, disproved: [ID], others: [] });
  });

  it('stay where a lookup fails: nothing is known then', async () => {
    const down = new Error('down');
    await expect(
      examine(
        row,
        [ID],
        () => Promise.reject(down),
        () => true,
      ),
    ).rejects.toBe(down);
  });
});
