import { describe, expect, it } from 'vitest';
import { type Envelope, readEnvelope } from '../../src/schemas/records/response.ts';
import { ID, OTHER_ID, record } from '../support/fixtures.ts';

const read = (answer: unknown): Envelope => {
  const envelope = readEnvelope(answer);
  expect(envelope).toHaveProperty('payment');
  return envelope as Envelope;
};
const parse = (name: string) => read(JSON.parse(record(name)));
const isReadable = (value: unknown) => 'payment' in readEnvelope(value);
const wrapped = JSON.parse(record('created PayID deposit'));

describe('an answer', () => {
  it('holds the payment in `result`, or alone', () => {
    expect(parse('created card deposit').payment).toMatchObject({ id: ID, paymentStatus: 'PENDING' });
    expect(parse('created, unwrapped').payment).toMatchObject({ id: ID, paymentStatus: 'PENDING' });
    const named = { ...JSON.parse(record('created, unwrapped')), result: 'ok' };
    expect(read(named).payment).toMatchObject({ id: ID, result: 'ok' });
  });

  it('shows the seven transfer fields of a PayID deposit beside the payment, and never mixes the two', () => {
    const { payment, transfer } = parse('created PayID deposit');
    expect(payment).toMatchObject({ amount: 80, currency: 'AUD', paymentMethod: 'PAYID' });
    expect(transfer).toEqual({
      number: 'pay@payid.example',
      full_holder_name: 'Gateway Pty Ltd',
      payment_description: 'REF 77/1',
      amount: '80.00',
      currency: 'AUD',
      uuid: '3d5cf1a2-0000-4000-8000-000000000001',
      order_id: ID,
    });
  });

  it('is refused if its order_id is that of another payment', () => {
    expect(isReadable({ ...wrapped, order_id: OTHER_ID })).toBe(false);
    expect(isReadable({ ...wrapped, order_id: ID.toUpperCase() })).toBe(true);
    expect(isReadable({ ...wrapped, order_id: null })).toBe(true);
    const message = 'belongs to another payment than result.id';
    expect(readEnvelope({ ...wrapped, order_id: OTHER_ID })).toEqual([{ path: 'order_id', message }]);
  });

  it('has a transfer only if it has one of its fields next to `result`', () => {
    expect(parse('created card deposit')).not.toHaveProperty('transfer');
    const { result } = wrapped;
    expect(isReadable({ result, order_id: OTHER_ID })).toBe(false);
    expect(read({ result, order_id: ID }).transfer).toMatchObject({ order_id: ID });
    expect(read({ ...result, order_id: OTHER_ID })).not.toHaveProperty('transfer');
  });

  it.each([
    [{ ...wrapped.result, paymentStatus: undefined }, 'is missing, or is not text'],
    [{ ...wrapped.result, paymentStatus: 7 }, 'is missing, or is not text'],
    [[], 'must be a payment record'],
  ])('that cannot be read says why: case %#', (result, message) => {
    expect(readEnvelope({ result })).toMatchObject([{ message }]);
  });

  it.each([
    null,
    undefined,
    [],
    {},
    '',
    7,
    { result: null },
    { result: [] },
    { result: {} },
    { result: 'x' },
    [wrapped.result],
  ])('is refused as %j', value => {
    expect(isReadable(value)).toBe(false);
  });
});
