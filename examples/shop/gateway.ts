// Opens the real gateway if PAYMENT_GATEWAY_URL is set, else the sandbox in this process. Nothing else differs.
import { type ClientOptions, GatewayClient } from 'payment-gateway-sdk';
import { fromDrizzle, postgresJournal } from 'payment-gateway-sdk/postgres';
import type { Database } from './database.ts';

export async function openGateway(db: Database) {
  const isReal = Boolean(process.env.PAYMENT_GATEWAY_URL);
  // The sandbox and the real gateway must not share references.
  const journal = postgresJournal(fromDrizzle(db), { scope: isReal ? 'shop' : 'sandbox' });
  await journal.migrate();
  const common: ClientOptions<'standard'> = {
    journal,
    signCallbackUrls: true,
    onEvent: event => {
      if (event.type === 'warning') console.warn(`${event.code}: ${event.message}`);
    },
  };
  // The keys come from …_API_KEY and …_SIGN_KEY in the environment.
  if (isReal) return { journal, gateway: new GatewayClient(common), close: async () => {} };

  const { Sandbox } = await import('payment-gateway-sdk/sandbox');
  const sandbox = new Sandbox({ shopName: 'Harbour Tea' });
  const { url, close, clientOptions } = await sandbox.listen();
  const gateway = new GatewayClient({ ...common, ...clientOptions });
  return { journal, gateway, close, dashboard: url };
}

export type Journal = Awaited<ReturnType<typeof openGateway>>['journal'];
