// Every OpenAPI description in docs/openapi.
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lint, readDescription } from '../support/openapi.ts';

const names = readdirSync(new URL('../../docs/openapi/', import.meta.url)).filter(name => name.endsWith('.json'));

it('finds the descriptions', () => {
  expect(names).toContain('gateway.json');
});

it.each(names)('%s keeps to OpenAPI 3.1, and each of its examples to its schema', async name => {
  expect(await lint(readDescription(name))).toEqual([]);
});

describe('a fault is found', () => {
  const BLIK = '#/components/schemas/BlikDeposit';
  it.each<[fault: string, text: string, spoilt: string, problem: string]>([
    ['against the standard', '"operationId":"getPayment"', '"operationId":5', 'must be string'],
    ['an id that is there twice', '"operationId":"getPayment"', '"operationId":"createPayment"', 'is there twice'],
    ['a component that is not used', `{"$ref":"${BLIK}"},`, '', `${BLIK} is not used`],
    ['a discriminator that leads nowhere', `"BLIK":"${BLIK}"`, `"BLIK":"${BLIK}s"`, `leads to ${BLIK}s`],
    ['a field without a description', '"description":"Given name.",', '', 'firstName has no description'],
    ['an example against its schema', '"amount":25.5,', '"amount":"25.5",', 'the example cardDeposit at'],
    ['a pattern on a number', '"exclusiveMinimum":0', '"pattern":"^x"', 'strict mode'],
    ['a keyword that is none', '"minLength":1', '"minLenght":1', 'strict mode: unknown keyword: "minLenght"'],
    ['a reference to nowhere', '"$ref":"#/components/schemas/Timestamp"', '"$ref":"#/components/schemas/Time"', 'Time'],
  ])('%s', async (_, text, spoilt, problem) => {
    const description = JSON.stringify(readDescription('gateway.json'));
    expect(description).toContain(text);
    const found = lint(JSON.parse(description.replace(text, spoilt))).catch(error => [String(error)]);
    expect((await found).join('\n')).toContain(problem);
  });
});
