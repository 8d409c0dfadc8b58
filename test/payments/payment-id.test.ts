import { describe, expect, it } from 'vitest';
import { findPaymentId } from '../../src/payments/payment-id.ts';
import { isPaymentId } from '../../src/schemas/id.ts';
import { ID, OTHER_ID, RECORDS, record } from '../support/fixtures.ts';

describe('findPaymentId', () => {
  it.each(Object.keys(RECORDS))('finds the id in "%s" as soon as it has arrived, and never sooner', name => {
    const text = record(name);
    const whole = text.indexOf(ID) + ID.length;
    const lengths = Array.from({ length: text.length + 1 }, (_, length) => length);
    const isWrong = (length: number) => findPaymentId(text.slice(0, length)) !== (length < whole ? undefined : ID);
    expect(lengths.filter(isWrong)).toEqual([]);
  });

  it.each([
    ['of a customer', `{"customer":{"id":"${OTHER_ID}"},"amount":1}`],
    ['of a customer in a result', `{"result":{"customer":{"id":"${OTHER_ID}"}}}`],
    ['of an error', `{"error":{"id":"${OTHER_ID}","message":"no"}}`],
    ['quoted in a text', `{"description":"{\\"id\\":\\"${OTHER_ID}\\"}"}`],
    ['under another name', `{"result":{"uuid":"${OTHER_ID}","order_id":"${OTHER_ID}"}}`],
    ['that is not a UUID', '{"id":"order-1"}'],
    ['of a trace', `{"trace":"${OTHER_ID}"}`],
    ['as a key', `{"${OTHER_ID}":1}`],
    ['of a list', `[{"id":"${OTHER_ID}"}]`],
    ['of a list in a result', `{"result":[{"id":"${OTHER_ID}"}]}`],
    ['of a list under the name', `{"id":["${OTHER_ID}"]}`],
    ['of a `result` in another object', `{"data":{"result":{"id":"${OTHER_ID}"}}}`],
    ['in HTML', `<html><body id="${OTHER_ID}">`],
    ['in an empty body', ''],
  ])('passes over an id %s', (_, text) => {
    expect(findPaymentId(text)).toBeUndefined();
  });

  it.each([
    ['after a customer with an id', `{"result":{"customer":{"id":"${OTHER_ID}"},"id":"${ID}"}}`],
    ['of `result` rather than the one next to it', `{"id":"${OTHER_ID}","result":{"id":"${ID}"}}`],
    ['next to a field named result', `{"result":"ok","id":"${ID}"}`],
    ['after a text that quotes another', `{"description":"\\"id\\":\\"${OTHER_ID}\\"","id":"${ID}"}`],
    ['before the text goes wrong', `{"id":"${ID}","amount":nope`],
    ['with white space', `{ "result" : { "id" : "${ID}" } }`],
  ])('finds the id %s', (_, text) => {
    expect(findPaymentId(text)).toBe(ID);
  });

  it('takes megabytes of hostile text in its stride', { tags: 'long' }, () => {
    const texts = ['{"a":'.repeat(200_000), `{"a":"${'\\"'.repeat(500_000)}`, '{ '.repeat(500_000), '['.repeat(1e6)];
    expect(texts.map(findPaymentId)).toEqual(texts.map(() => undefined));
  });
});

describe('isPaymentId', () => {
  it.each([ID, ID.toUpperCase(), '00000000-0000-0000-0000-000000000000'])('takes %s', id => {
    expect(isPaymentId(id)).toBe(true);
  });

  it.each(['', 'order-1', `${ID}/../x`, ` ${ID}`, `${ID}\n`, ID.slice(1), ID.replaceAll('-', ''), null, 7, [ID]])(
    'refuses %j',
    id => {
      expect(isPaymentId(id)).toBe(false);
    },
  );
});
