// One process that makes one create, says how it ended, and has nothing more to do: it ends as soon as nothing is left over.
import tls from 'node:tls';
import { GatewayClient, isGatewayError } from '../../src/index.ts';
import { CARD, KEYS } from '../support/fixtures.ts';
import { authority } from '../support/tls.ts';

const { BASE_URL = '', TIMEOUT = '', DESCRIPTION = '0' } = process.env;
tls.setDefaultCACertificates([authority]);

// Before the clock of the create runs.
await import('../../src/http/connection.ts');
const gateway = new GatewayClient({ ...KEYS, baseUrl: BASE_URL, timeout: Number(TIMEOUT), retries: 0 });
try {
  const { payment } = await gateway.createDeposit({ ...CARD, description: 'x'.repeat(Number(DESCRIPTION)) });
  console.log(JSON.stringify({ id: payment.id }));
} catch (error) {
  if (!isGatewayError(error)) throw error;
  console.log(JSON.stringify({ outcome: error.outcome, code: error.code }));
}
