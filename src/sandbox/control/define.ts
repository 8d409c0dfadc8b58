// Defines a route of the sandbox's own API: its words, checks and work, and the source of its description.
import type { Hono } from 'hono/tiny';
import type * as z from 'zod';
import { ConfigurationError } from '../../errors.ts';
import { isForeign } from '../api/origin.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';

export interface Route<Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> {
  method: 'get' | 'post' | 'put' | 'delete';
  /** The path below `/_sandbox`, with parameters in braces: `/payments/{id}`. */
  path: string;
  /** The operation's name in generated clients. */
  name: string;
  /** One line about the route. */
  summary: string;
  /** The group in the description. */
  tag: string;
  query?: Q;
  body?: B;
  /** The schema of a JSON answer, or the content type of a stream. */
  answer: z.ZodType | { contentType: string; description: string };
  errors?: readonly SandboxError['code'][];
  run(parts: Parts, call: RouteCall<Q, B>): unknown;
}

interface RouteCall<Q extends z.ZodType, B extends z.ZodType> {
  /** The parameter of the path. */
  id: string;
  query: z.output<Q>;
  body: z.output<B>;
  request: Request;
}

/** Preserves the types of a route's query and body. */
export const route = <Q extends z.ZodType, B extends z.ZodType>(one: Route<Q, B>): Route => one;

export const PREFIX = '/_sandbox';

/** The HTTP status of each refusal. */
export const STATUS: Readonly<Record<SandboxError['code'] | 'invalid', number>> = {
  invalid: 422,
  refused: 422,
  unknown_payment: 404,
  unknown_delivery: 404,
  unknown_call: 404,
  unknown_fault: 404,
  unknown_scenario: 404,
  final_state: 409,
  timeout: 408,
};

export function addRoutes(app: Hono, routes: readonly Route[], parts: Parts): void {
  for (const { method, path, query, body, run } of routes) {
    app.on(method.toUpperCase(), PREFIX + path.replace(/\{(\w+)\}/g, ':$1'), async ({ req }) => {
      try {
        if (isForeign(req.raw.headers)) {
          return problem('refused', 'A page from elsewhere must not use the API of the sandbox.', 403);
        }
        const answer = await run(parts, {
          id: Object.values<string>(req.param())[0] ?? '',
          query: query ? read(query, req.query()) : {},
          body: body ? read(body, await jsonOf(req.raw)) : {},
          request: req.raw,
        });
        if (answer instanceof Response) return answer;
        return answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer);
      } catch (error) {
        if (error instanceof SandboxError) return problem(error.code, error.message);
        if (error instanceof ConfigurationError) return problem('invalid', error.message);
        throw error;
      }
    });
  }
  app.all(`${PREFIX}/*`, ({ req }) => {
    const isHere = ({ path }: Route) => new RegExp(`^${PREFIX}${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(req.path);
    const allow = routes.filter(isHere).map(({ method }) => method.toUpperCase());
    if (allow.length > 0) {
      const refused = problem('refused', `This address takes ${allow.join(' or ')}, and not ${req.method}.`, 405);
      refused.headers.set('allow', allow.join(', '));
      return refused;
    }
    return problem('refused', `There is no such address. GET ${PREFIX}/openapi.json describes those there are.`, 404);
  });
}

const problem = (code: keyof typeof STATUS, message: string, status = STATUS[code]): Response =>
  Response.json({ code, message }, { status });

async function jsonOf(request: Request): Promise<unknown> {
  const text = await request.text();
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigurationError('The body is not JSON.');
  }
}

function read<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const problems = error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '));
  throw new ConfigurationError(`${problems.join('; ')}.`);
}
