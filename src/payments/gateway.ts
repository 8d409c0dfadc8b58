// What every call of one client needs: its settings, bound to an address, a way of sending, and its journal.
import { createHttpClient, type Send } from '../http/client.ts';
import { scopeOf } from '../journal/attempt.ts';
import type { ClientJournal } from '../journal/create-once.ts';
import type { Settings } from '../options.ts';

/** What every call of one client needs. */
export interface Gateway extends Settings {
  /** Of the payments. */
  url: string;
  /** Of every call. */
  headers: Record<string, string>;
  send: Send;
  clientJournal: ClientJournal | undefined;
}

export function openGateway(settings: Settings): Gateway {
  const { baseUrl, apiKey, journal, onEvent } = settings;
  return {
    ...settings,
    url: `${baseUrl}/api/v1/payments`,
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      // Half of a compressed answer cannot be read, and may hold the payment's id.
      'accept-encoding': 'identity',
    },
    send: createHttpClient(settings),
    clientJournal: journal && { journal, scope: journal.scope ?? scopeOf(baseUrl), onEvent },
  };
}
