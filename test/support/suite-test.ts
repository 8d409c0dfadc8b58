// The test function for our suites, whose assertions are those of node:assert.
import type { TestFunction } from 'payment-gateway-sdk/testing';
import { expect, it } from 'vitest';

/** Registers a test that passes if nothing throws. */
export const suiteTest: TestFunction = (name, run) => it(name, () => expect(run()).resolves.toBeUndefined());
