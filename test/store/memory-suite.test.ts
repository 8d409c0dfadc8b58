// memoryStore passes the suite of every store.
// @module-tag long
import { storeSuite } from 'payment-gateway-sdk/testing';
import { describe } from 'vitest';
import { memoryStore } from '../../src/store/memory.ts';
import { suiteTest } from '../support/suite-test.ts';

describe('memoryStore', () => {
  storeSuite({
    test: suiteTest,
    open(scope) {
      const store = memoryStore({ scope });
      return [store, store];
    },
  });
});
