// memoryStore passes the suite of every store.
import { storeSuite } from 'payment-gateway-sdk/testing';
import { describe, it } from 'vitest';
import { memoryStore } from '../../src/store/memory.ts';

describe('memoryStore', () => {
  storeSuite({
    test: (name, run) => it(name, { tags: /busy|effect|lease/.test(name) ? 'long' : [] }, run),
    open(scope) {
      const store = memoryStore({ scope });
      return [store, store];
    },
  });
});
