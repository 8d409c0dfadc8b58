import { memoryInbox, memoryJournal } from 'payment-gateway-sdk';
import { inboxSuite, journalSuite } from 'payment-gateway-sdk/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';

describe('memoryJournal', () => {
  journalSuite({
    test: it,
    make: () => {
      const journal = memoryJournal();
      return [journal, journal];
    },
  });
});

describe('memoryInbox', () => {
  inboxSuite({
    test: it,
    make: () => {
      const inbox = memoryInbox();
      return [inbox, inbox];
    },
  });
});

describe.each([
  ['memoryInbox', memoryInbox, 'which callbacks were handled', 'postgresInbox'],
  ['memoryJournal', memoryJournal, 'which references were paid', 'postgresJournal'],
])('%s', (name, make, what, instead) => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it('warns under NODE_ENV=production, and only there', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    make();
    expect(warn).not.toHaveBeenCalled();
    vi.stubEnv('NODE_ENV', 'production');
    make();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining(`${name} forgets ${what}`), 'PaymentGatewayWarning');
    expect(warn).toHaveBeenCalledWith(expect.stringContaining(instead), 'PaymentGatewayWarning');
  });
});
