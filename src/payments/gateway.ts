// The shared parts of one client's calls: its settings, address, sender and store.
import type { Settings } from '../client-options.ts';
import type { Send } from '../http/client.ts';
import { runtime } from '../http/runtime.ts';
import { VERSION } from '../http/version.ts';
import { bindStore } from '../store/creates/bound.ts';
import { type CallbackTokens, callbackTokens } from './signing/callback-token.ts';

/** The shared parts of one client's calls. */
export interface Gateway extends Settings {
  /** The address of all payments. */
  url: string;
  /** The headers of every call. */
  headers: Record<string, string>;
  send: Send;
  tokens: CallbackTokens;
  /** Time of `performance.now()` to check that an upkeep runs, for a client that has planned a payout. */
  upkeepCheckAt?: number;
}

export function openGateway(settings: Settings): Gateway {
  const { baseUrl, apiKey, signKey, formerSignKeys } = settings;
  const store = settings.store && bindStore(settings.store, baseUrl);
  return {
    ...settings,
    store,
    url: `${baseUrl}/api/v1/payments`,
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      'user-agent': `payment-gateway-sdk/${VERSION} ${runtime().name}`,
      // Half of a compressed answer is unreadable, but may contain the payment's id.
      'accept-encoding': 'identity',
    },
    send: openSend(settings),
    tokens: callbackTokens(signKey, formerSignKeys),
  };
}

/** Loads ky and node:http with the first call, because they take long to load. */
function openSend(settings: Settings): Send {
  let loading: Promise<Send> | undefined;
  return async (...call) => {
    loading ??= import('../http/client.ts').then(({ createHttpClient }) => createHttpClient(settings));
    return (await loading)(...call);
  };
}
