// The shared parts of one client's calls: its settings, its two requests to the gateway, and its store.
import { Buffer } from 'node:buffer';
import type { Settings } from '../client-options.ts';
import type { CallLimits, Send } from '../http/client.ts';
import { runtime } from '../http/runtime.ts';
import { VERSION } from '../http/version.ts';
import { bindStore } from '../store/creates/bound.ts';
import type { Call } from '../telemetry/call.ts';
import { callbackTokens } from './signing/callback-token.ts';
import { signBody } from './signing/sign.ts';

export type Gateway = ReturnType<typeof openGateway>;

export function openGateway(settings: Settings) {
  const { baseUrl, apiKey, signKey, signatureEncoding, formerSignKeys, store } = settings;
  const url = `${baseUrl}/api/v1/payments`;
  const headers = {
    authorization: `Bearer ${apiKey}`,
    accept: 'application/json',
    'user-agent': `payment-gateway-sdk/${VERSION} ${runtime().name}`,
    // Half of a compressed answer is unreadable, but may contain the payment's id.
    'accept-encoding': 'identity',
  };
  const send = openSend(settings);
  return {
    ...settings,
    store: store && bindStore(store, baseUrl),
    tokens: callbackTokens(signKey, formerSignKeys),
    /** Time of `performance.now()` to check that an upkeep runs, for a client that has planned a payout. */
    upkeepCheckAt: undefined as number | undefined,
    /** Whether the client has made a withdrawal without a store. */
    hasWarned: false,
    get: (call: Call, id: string, limits: CallLimits) =>
      send({ call, method: 'GET', url: `${url}/${id}`, headers, secrets: [apiKey] }, limits),
    /** Signs the bytes of a create, and sends them. */
    post(call: Call, text: string, limits: CallLimits) {
      const body = Buffer.from(text);
      const signature = signBody(body, signKey, signatureEncoding);
      const signed = { ...headers, 'content-type': 'application/json', signature };
      return send({ call, method: 'POST', url, headers: signed, body, secrets: [apiKey, signature] }, limits);
    },
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
