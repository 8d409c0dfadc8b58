import { memoryInbox } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inboxContract } from '../support/inbox-contract.ts';

inboxContract('memoryInbox', () => {
  const inbox = memoryInbox();
  return [inbox, inbox];
});

describe('memoryInbox', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it('warns under NODE_ENV=production, and only there', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    memoryInbox();
    expect(warn).not.toHaveBeenCalled();
    vi.stubEnv('NODE_ENV', 'production');
    memoryInbox();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('postgresInbox'), 'PaymentGatewayWarning');
  });
});
