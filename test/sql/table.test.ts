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

  it('are a script of statements, without the indent of our code', () => {
    const create = 'CREATE TABLE marks (\n        id text,\n        PRIMARY KEY (id)\n      )';
    // The columns stay further to the right than the bracket.
    const tidy = 'CREATE TABLE marks (\n  id text,\n  PRIMARY KEY (id)\n)';
    expect(scriptOf([create, 'CREATE INDEX a ON marks (id)'])).toBe(`${tidy};\nCREATE INDEX a ON marks (id);\n`);
    const options = 'CREATE TABLE marks (\n    id text\n  ) ENGINE = InnoDB';
    expect(scriptOf([options])).toBe('CREATE TABLE marks (\n  id text\n) ENGINE = InnoDB;\n');
    const within = 'CREATE TABLE marks (\n    CHECK (\n      true\n      )\n    )';
    expect(scriptOf([within])).toBe('CREATE TABLE marks (\nCHECK (\n  true\n  )\n);\n');
    expect(scriptOf(['SELECT 1\n)'])).toBe('SELECT 1\n);\n');
  });
});
