// Asks a sandbox that runs already, over its own API.

import { printable } from '../../terminal/printable.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { SERVER_NAME } from '../api/server.ts';
import { PREFIX } from '../control/define.ts';
import type { PaymentRecord } from '../ledger/record.ts';
import { DEFAULT_PORT } from './commands.ts';
import type { Values } from './options.ts';

/** Something was not so in time: exit code 1. */
export class NotInTime extends Error {}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface Question {
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
}

export class Remote {
  readonly #origin: string;

  /** @throws {UsageError} if two places are named */
  constructor({ url, port }: Values) {
    if (url !== undefined && port !== undefined) throw new UsageError('--url and --port both say where: pass one.');
    this.#origin = url === undefined ? `http://127.0.0.1:${port ?? DEFAULT_PORT}` : new URL(url).origin;
  }

  /** @throws {UsageError} if no sandbox answers there, or it refuses */
  async ask<T>(method: Method, path: string, question?: Question): Promise<T> {
    const text = await (await this.open(method, path, question)).text();
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async open(method: Method, path: string, { query = {}, body }: Question = {}): Promise<Response> {
    const origin = this.#origin;
    const url = new URL(origin + PREFIX + path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const json = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(url, { method, ...json, redirect: 'manual' }).catch(() => {
      const start = new URL(origin).hostname === '127.0.0.1' ? ` --port ${new URL(origin).port || 80}` : '';
      throw new UsageError(`No sandbox answers at ${origin}. Start one: npx payment-gateway-sandbox${start}`);
    });
    if (response.headers.get('server') !== SERVER_NAME) {
      throw new UsageError(`The server at ${origin} is not the sandbox: pass its --port or its --url.`);
    }
    if (response.status >= 400) throw refusalOf(await response.text());
    return response;
  }

  /**
   * The payment with this reference, the newest if there are some; else the one with this id.
   *
   * @throws {UsageError} if there is neither
   */
  async find(idOrReference: string): Promise<PaymentRecord> {
    const query = { reference: idOrReference, limit: 1 };
    const { payments } = await this.ask<{ payments: PaymentRecord[] }>('GET', '/payments', { query });
    if (payments[0]) return payments[0];
    const detail = await this.ask<{ payment: PaymentRecord }>(
      'GET',
      `/payments/${encodeURIComponent(idOrReference)}`,
    ).catch(() => undefined);
    if (detail) return detail.payment;
    throw new UsageError(
      `The sandbox has no payment with the id or the reference ${JSON.stringify(idOrReference)}. See: payment-gateway-sandbox list`,
    );
  }
}

/** As the command line calls what the functions take. */
const asOptions = (message: string): string =>
  message
    .replace('{ force: true }', '--force')
    .replace(/^faults\.next: (?=(?:ms|on) )/, '--')
    .replace(/^faults\.next: /, '');

function refusalOf(text: string): Error {
  try {
    const { code, message } = JSON.parse(text);
    return code === 'timeout' ? new NotInTime(printable(message)) : new UsageError(printable(asOptions(message)));
  } catch {
    return new UsageError(printable(text));
  }
}
