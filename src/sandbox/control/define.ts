// Defines a route of the sandbox's own API: its words, checks and work.
import type { Hono } from 'hono/tiny';
import type * as z from 'zod';
import { ConfigurationError } from '../../errors.ts';
import { parseJson } from '../../schemas/json.ts';
import { isForeign } from '../api/origin.ts';
import type { Parts } from '../parts.ts';
import type { SandboxError } from '../sandbox-error.ts';

interface Work<S extends z.ZodType> {
  /** The query of a GET, the body of other methods. */
  fields?: S;
  /** @param call with the parameter of the path as `id`, and the sandbox's `origin` as the caller knows it */
  run(parts: Parts, fields: z.output<S>, call: { id: string; origin: string }): unknown;
}

export interface Route extends Work<z.ZodType> {
  method: string;
  /** The path below `/_sandbox`: `/payments/:id`. */
  path: string;
  /** The operation's name in generated clients. */
  name: string;
  summary: string;
}

/** @param address its method and path: `GET /payments/:id` */
export function route<S extends z.ZodType>(address: string, name: string, summary: string, work: Work<S>): Route {
  const [method = '', path = ''] = address.split(' ');
  return { method, path, name, summary, ...work };
}

export const PREFIX = '/_sandbox';

export type Code = SandboxError['code'] | 'invalid';

const STATUS: Partial<Record<Code, number>> = { invalid: 422, refused: 422, final_state: 409, timeout: 408 };

/** The HTTP status of a refusal: 404 for each unknown thing. */
export const statusOf = (code: Code) => STATUS[code] ?? 404;

export function addRoutes(app: Hono, routes: readonly Route[], parts: Parts) {
  for (const { method, path, fields, run } of routes) {
    app.on(method, PREFIX + path, async ({ req }) => {
      if (isForeign(req.raw)) {
        return problem('refused', 'A page from elsewhere must not use the API of the sandbox.', 403);
      }
      const given = fields && read(fields, method === 'GET' ? req.query() : await jsonOf(req.raw));
      const [id = ''] = Object.values<string>(req.param());
      const answer = await run(parts, given, { id, origin: new URL(req.url).origin });
      if (answer instanceof Response) return answer;
      return answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer);
    });
  }
  for (const [path, same] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = same.map(({ method }) => method);
    app.all(PREFIX + path, ({ req }) => {
      const refused = problem('refused', `This address takes ${methods.join(' or ')}, and not ${req.method}.`, 405);
      refused.headers.set('allow', methods.join(', '));
      return refused;
    });
  }
  const missing = `There is no such address. GET ${PREFIX}/openapi.json describes the existing ones.`;
  app.all(`${PREFIX}/*`, () => problem('refused', missing, 404));
}

export const problem = (code: Code, message: string, status = statusOf(code)) =>
  Response.json({ code, message }, { status });

async function jsonOf(request: Request) {
  const text = await request.text();
  // PHP writes an empty map as [].
  const isEmpty = ['', '[]'].includes(text.replace(/\s/g, ''));
  const json = parseJson(isEmpty ? '{}' : text);
  if (json) return json.value;
  throw new ConfigurationError('The body is not JSON.');
}

/** Describes the mistakes for which the schema has no text. */
export const check = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, {
    error: issue => {
      if (issue.code === 'unrecognized_keys') return `unknown field ${issue.keys.join(', ')}`;
      if (issue.code === 'invalid_value') return `must be ${issue.values.join(' or ')}`;
      return issue.code === 'invalid_type' ? `must be of the type ${issue.expected}` : undefined;
    },
  });

function read(schema: z.ZodType, value: unknown) {
  const { success, data, error } = check(schema, value);
  if (success) return data;
  const problems = error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '));
  throw new ConfigurationError(`${problems.join('; ')}.`);
}
