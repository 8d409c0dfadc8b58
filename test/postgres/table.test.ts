// A table of Postgres: the names of its indexes.
import { expect, it } from 'vitest';
import { indexName } from '../../src/postgres/table.ts';

it('an index has a name of 63 bytes at most, of which Postgres cuts nothing off', () => {
  expect([indexName('marks', 'due'), indexName('shop.marks', 'due')]).toEqual(['"marks_due"', '"marks_due"']);
  expect(indexName('x'.repeat(63), 'due')).toBe(`"${'x'.repeat(59)}_due"`);
});
