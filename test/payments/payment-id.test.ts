import { describe, expect, it } from 'vitest';
import { findPaymentId } from '../../src/payments/payment-id.ts';
import { isPaymentId } from '../../src/schemas/id.ts';
import { ID, OTHER_ID, RECORDS, record } from '../support/fixtures.ts';

/** A result that is the text of an answer, whose result is one again. */
const encoded = (times: number): string =>
  Array.from({ length: times - 1 }).reduce<string>(result => JSON.stringify({ result }), `{"id":"${ID}"}`);

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
    ['that is no UUID', '{"id":"order-1"}'],
    ['of a trace', `{"trace":"${OTHER_ID}"}`],
    ['of an order that is no UUID', '{"order_id":"order-1"}'],
    ['of a list of orders', `["order_id","${OTHER_ID}"]`],
    ['of an order in another object', `{"data":{"order_id":"${OTHER_ID}"}}`],
    [
      'of an order, where there are two records',
      `{"order_id":"${OTHER_ID}","list":[{"id":"${ID}","paymentStatus":"X"},{"id":"${OTHER_ID}","paymentStatus":"X"}]}`,
    ],
    ['as a key', `{"${OTHER_ID}":1}`],
    ['of a list in a result', `{"result":[{"id":"${OTHER_ID}"}]}`],
    ['of a list that is written as an object', `{"result":["x","id":"${OTHER_ID}"]}`],
    ['of a `result` in another object', `{"data":{"result":{"id":"${OTHER_ID}"}}}`],
    ['of a text that is the `result` of another object', JSON.stringify({ data: { result: `{"id":"${OTHER_ID}"}` } })],
    ['quoted in a text that is the `result`', JSON.stringify({ result: `see {"id":"${OTHER_ID}"}` })],
    ['in a result that was encoded again and again', encoded(4)],
    ['of two records', `{"list":[{"id":"${ID}","paymentStatus":"X"},{"id":"${OTHER_ID}","paymentStatus":"X"}]}`],
    [
      'of another record, where the answer is cut off before its own',
      `{"former":{"id":"${OTHER_ID}","paymentStatus":"X"},"id":`,
    ],
    ['of a wrapped record that is cut off: there may be two', `{"data":[{"id":"${ID}","paymentStatus":"X"},`],
    ['in JSON encoded again and again', [1, 2, 3, 4].reduce(text => JSON.stringify(text), `{"id":"${ID}"}`)],
    ['in HTML', `<html><body id="${OTHER_ID}">`],
    ['in nothing', ''],
  ])('passes over an id %s', (_, text) => {
    expect(findPaymentId(text)).toBeUndefined();
  });

  it.each([
    ['after a PHP warning', `<br />\n<b>Warning</b>: x in {main}\n${'{"result":{"id":"'}${ID}"}}`],
    ['after a byte order mark', `\uFEFF{"id":"${ID}"}`],
    ['in a list', `[{"id":"${ID}"}]`],
    ['under a wrapper of another name', `{"data":{"id":"${ID}","paymentStatus":"PENDING"}}`],
    ['after a customer with an id', `{"result":{"customer":{"id":"${OTHER_ID}"},"id":"${ID}"}}`],
    ['in `result` rather than beside it', `{"id":"${OTHER_ID}","result":{"id":"${ID}"}}`],
    ['after a text that quotes another', `{"description":"\\"id\\":\\"${OTHER_ID}\\"","id":"${ID}"}`],
    ['with its key escaped', `{"i\\u0064":"${ID}"}`],
    ['as its last value, as JSON.parse reads it', `{"id":"${OTHER_ID}","id":"${ID}"}`],
    ['before the text goes wrong', `{"id":"${ID}","amount":nope`],
    ['after another object', `{"debug":true}\n{"result":{"id":"${ID}"}}`],
    ['after a warning that quotes an object', `Deprecated: bad {"a": 1} in x.php\n{"result":{"id":"${ID}"}}`],
    ['in JSON that was encoded twice', JSON.stringify(JSON.stringify({ result: { id: ID } }))],
    ['in JSON that was encoded twice, after white space', ` \n${JSON.stringify(`{"id":"${ID}"}`)}`],
    ['in JSON with white space', `{ "result" : { "id" : "${ID}" } }`],
    ['after an object and a lone quote', `{"debug":true} 5" {"result":{"id":"${ID}"}}`],
    ['as `order_id` of the answer, where there is nothing else', `{"number":"a@b","order_id":"${ID}","result":{"pay`],
    ['rather than an `order_id`', `{"order_id":"${OTHER_ID}","result":{"id":"${ID}"}}`],
    [
      'under a wrapper, rather than an `order_id`',
      `{"order_id":"${OTHER_ID}","data":{"id":"${ID}","paymentStatus":"X"}}`,
    ],
    ['in the first of two results', `{"result":{"id":"${ID}"},"result":"{}"}`],
    ['in a result that was encoded three times', encoded(3)],
    ['in a result that was encoded twice', JSON.stringify({ result: JSON.stringify({ id: ID }), x: { id: OTHER_ID } })],
  ])('finds the id %s', (_, text) => {
    expect(findPaymentId(text)).toBe(ID);
  });

  it('takes megabytes of hostile text in its stride', { tags: 'long' }, () => {
    for (const text of [
      '{"a":'.repeat(200_000),
      `{"a":"${'\\"'.repeat(500_000)}`,
      '{ '.repeat(500_000),
      '['.repeat(1e6),
    ]) {
      expect(findPaymentId(text)).toBeUndefined();
    }
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
