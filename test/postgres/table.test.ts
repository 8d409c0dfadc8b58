// A table of Postgres: the names of its indexes, and what an error of a replica says.
import { expect, it } from 'vitest';
import { advised, indexName } from '../../src/postgres/table.ts';

it('an index has a name of 63 bytes at most, of which Postgres cuts nothing off', () => {
  expect([indexName('marks', 'due'), indexName('shop.marks', 'due')]).toEqual(['"marks_due"', '"marks_due"']);
  expect(indexName('x'.repeat(63), 'due')).toBe(`"${'x'.repeat(59)}_due"`);
});

const POOLER =
  ': a pooler in transaction mode does not keep prepared statements. Leave out `prepare: true`, or use PgBouncer 1.21 or later.';
const PRIMARY = ': this is a read replica, or a read-only session. The store needs the primary.';
it.each([
  ['42P01', 'relation "marks" does not exist', ': call migrate(), or correct tablePrefix'],
  ['25006', 'cannot execute INSERT in a read-only transaction', PRIMARY],
  ['0A000', 'cannot set transaction read-write mode during recovery', PRIMARY],
  ['26000', 'prepared statement "a" does not exist', POOLER],
  ['42P05', 'prepared statement "a" already exists', POOLER],
  ['0A000', 'cursors are not supported', ''],
  ['23505', 'in recovery', ''],
])('the error %s, %s, is advised on: "%s"', (code, message, advice) => {
  const error = Object.assign(new Error(message), { code });
  expect(advised(error)).toHaveProperty('message', message + advice);
  if (advice) expect(advised(error)).toHaveProperty('cause', error);
  else expect(advised(error)).toBe(error);
});

it.each([new Error('recovery'), 'recovery', undefined, { code: '25006' }])(
  'what is no error of Postgres stays: %s',
  given => {
    expect(advised(given)).toBe(given);
  },
);
