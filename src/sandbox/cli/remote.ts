// Calls a route of a running sandbox.
import { parseJson } from '../../schemas/json.ts';
import { CommandError, LOOK } from '../../terminal/program.ts';
import { SERVER_NAME } from '../api/server.ts';
import { PREFIX, type Route } from '../control/define.ts';
import { ROUTES } from '../control/routes.ts';

export const DEFAULT_PORT = 4010;

export interface Place {
  port?: number;
  url?: string;
}

/** The fields of a query or a body. Undefined ones are not sent. */
export type Fields = Readonly<Record<string, unknown>>;

export const routeOf = (name: string): Route => ROUTES.find(route => route.name === name) as Route;

/** @throws {CommandError} if no sandbox answers there, or it refuses */
export async function call<T>(place: Place, route: string, fields: Fields = {}, id = ''): Promise<T> {
  const text = await (await open(place, route, fields, id)).text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

export async function open({ url, port }: Place, name: string, fields: Fields = {}, id = ''): Promise<Response> {
  const { method, path, query, body } = routeOf(name);
  const named = url ?? (port === undefined ? process.env.PAYMENT_GATEWAY_URL : undefined);
  const { origin } = new URL(named || `http://127.0.0.1:${port ?? DEFAULT_PORT}`);
  const address = new URL(origin + PREFIX + path.replace(/:\w+/, encodeURIComponent(id)));
  for (const [field, value] of Object.entries(query ? fields : {})) {
    if (value !== undefined) address.searchParams.set(field, String(value));
  }
  const json = body && { body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } };
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
  throw new CommandError(message, code === 'timeout' ? LOOK : undefined, code);
}
