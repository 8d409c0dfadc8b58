// A shop that plans payouts, and sends one as upkeep does.
import { GatewayClient, type GatewayEvent, type PayoutRequest } from 'payment-gateway-sdk';
import { type ClientOptions, readClientOptions } from '../../src/client-options.ts';
import type { Fetch } from '../../src/http/own-fetch.ts';
import { type Created, create, type Internal } from '../../src/payments/create.ts';
import { openGateway } from '../../src/payments/gateway.ts';
import type { PayoutOptions } from '../../src/payments/payouts.ts';
import type { CreateRow } from '../../src/store/creates.ts';
import { openPlan } from '../../src/store/plan.ts';
import { type Creates, memoryCreates, storeOf } from './creates.ts';
import { KEYS, PAYOUT } from './fixtures.ts';

export const tx = { of: 'the merchant' };

export function openPayouts(fetch: Fetch, { statements = memoryCreates({ scope: 'eu' }), ...given }: Options = {}) {
  const events: GatewayEvent[] = [];
  const onEvent = (event: GatewayEvent) => void events.push(event);
  const options = { ...KEYS, fetch, store: storeOf(statements), retries: 0, onEvent, ...given };
  const gateway = new GatewayClient(options);
  const upkeeping = openGateway(readClientOptions(options));
  const rowOf = async (reference = PAYOUT.reference) => (await statements.read({ reference })).row;
  return {
    statements,
    gateway,
    rowOf,
    plan: (changes: Partial<PayoutRequest> = {}, options?: PayoutOptions) =>
      gateway.payOut(tx, { ...PAYOUT, ...changes }, options),
    /** Sends a plan as upkeep claims it, or as it was claimed before. */
    send: async (claimed?: CreateRow, internal?: Internal): Promise<Created> => {
      const plan = claimed ?? ((await rowOf()) as CreateRow);
      const { request, extra } = openPlan(plan.body ?? '');
      return create(upkeeping, 'payment', request, { extra }, { plan, ...internal });
    },
    stateOf: async (reference = PAYOUT.reference) => (await gateway.find(reference))?.state,
    changes: () => events.flatMap(event => (event.type === 'store' ? [event.change] : [])),
  };
}

interface Options extends Omit<ClientOptions, 'fetch' | 'store'> {
  statements?: Creates;
}
