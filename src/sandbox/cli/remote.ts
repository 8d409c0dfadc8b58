// Calls a route of a running sandbox.
import { parseJson } from '../../schemas/json.ts';
import { CommandError, FAILED, LOOK } from '../../terminal/program.ts';
import { JSON_TYPE } from '../answer.ts';
import { SERVER_NAME } from '../api/server.ts';
import { PREFIX, type Route } from '../control/define.ts';
import { ROUTES } from '../control/routes.ts';

export const DEFAULT_PORT = 4010;

export interface Place {
  port?: number;
  url?: string;
}

/** Undefined ones are not sent, as JSON has none. */
export type Fields = Readonly<Record<string, unknown>>;

export const routeOf = (name: string) => ROUTES.find(route => route.name === name) as Route;

export async function call<T>(...args: Parameters<typeof open>): Promise<T> {
  const response = await open(...args);
  return JSON.parse((await response.text()) || 'null');
}

/** @throws {CommandError} if no sandbox answers there, or it refuses */
export async function open({ url, port }: Place, name: string, fields: Fields = {}, id = '') {
  const { method, path } = routeOf(name);
  const named = url ?? (port === undefined && process.env.PAYMENT_GATEWAY_URL);
  const { origin } = new URL(named || `http://127.0.0.1:${port ?? DEFAULT_PORT}`);
  const address = new URL(origin + PREFIX + path.replace(/:\w+/, encodeURIComponent(id)));
  const body = JSON.stringify(fields);
  if (method === 'GET') address.search = String(new URLSearchParams(JSON.parse(body)));
  const json = method !== 'GET' && { body, headers: JSON_TYPE };
  const response = await fetch(address, { method, ...json, redirect: 'manual' }).catch(() => {
    const start = address.hostname === '127.0.0.1' ? ` --port ${address.port || 80}` : '';
    throw new CommandError(`No sandbox answers at ${origin}. Start one: npx payment-gateway-sandbox${start}`);
  });
  if (response.headers.get('server') !== SERVER_NAME) {
    throw new CommandError(`The server at ${origin} is not the sandbox: pass its --port or its --url.`);
  }
  if (response.status < 400) return response;
  const text = await response.text();
  const { code, message = text } = Object(parseJson(text)?.value);
  throw new CommandError(message, code === 'timeout' ? LOOK : FAILED, code);
}
