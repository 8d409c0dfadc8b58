import { memoryInbox, memoryJournal } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inboxContract } from '../support/inbox-contract.ts';
import { journalContract } from '../support/journal-contract.ts';

inboxContract('memoryInbox', () => {
  const inbox = memoryInbox();
  return [inbox, inbox];
});

describe.each([
  ['memoryInbox', memoryInbox, 'postgresInbox'],
  ['memoryJournal', memoryJournal, 'postgresJournal'],
])('%s', (_, make, instead) => {
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
    expect(warn).toHaveBeenCalledWith(expect.stringContaining(instead), 'PaymentGatewayWarning');
  });
});

journalContract('memoryJournal', () => {
  const journal = memoryJournal();
  return [journal, journal];
});
