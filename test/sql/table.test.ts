// The table of a store: which of its migrations have run, by its comment, and the script of all of them.
import { describe, expect, it } from 'vitest';
import { pendingOf, scriptOf, versionComment } from '../../src/sql/table.ts';

const STEPS = ['one', 'two', 'three'];

describe('the migrations of a table', () => {
  it.each([
    ['of none', undefined, STEPS],
    ['without a comment', null, STEPS],
    ['of the first version', 'payment-gateway-sdk, version 1', ['two', 'three']],
    ['of this version', versionComment(3), []],
    ['of a later version', 'payment-gateway-sdk, version 12', []],
    ['with a comment of somebody else', 'ours: payment-gateway-sdk, version 2', STEPS],
    ['with a comment that somebody has continued', 'payment-gateway-sdk, version 2 (do not touch)', STEPS],
    ['with a comment in other words', 'payment-gateway-sdk, version two', STEPS],
  ])('that are left to run %s', (_, comment, steps) => {
    expect(pendingOf(STEPS, comment)).toEqual(steps);
  });

  it('are a script of statements', () => {
    expect(scriptOf(['CREATE TABLE a (b text)', 'CREATE INDEX c ON a (b)'])).toBe(
      'CREATE TABLE a (b text);\nCREATE INDEX c ON a (b);\n',
    );
  });
});
