// The description of the sandbox's own API, from its routes and the types of their answers.
import * as z from 'zod';
import { type Code, PREFIX, statusOf } from '../../src/sandbox/control/define.ts';
import { ROUTES } from '../../src/sandbox/control/routes.ts';
import { readAnswers } from './answers.ts';
import { type JsonSchema, refTo } from './wire.ts';

const PROBLEM: JsonSchema = {
  description: 'Why something was refused, and what to do.',
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string', description: 'Stable and for machines.' },
    message: { type: 'string', description: 'For people: what to do.' },
  },
  additionalProperties: false,
};

/** The refusals of each route, except for wrong fields. test/openapi/control.test.ts provokes each of them. */
const ERRORS: Readonly<Record<string, readonly Code[]>> = {
  getCall: ['unknown_call'],
  disarmFault: ['unknown_fault'],
  moveClock: ['refused'],
  getPayment: ['unknown_payment'],
  movePayment: ['unknown_payment', 'final_state', 'refused'],
  waitForPayment: ['timeout', 'refused'],
  redeliver: ['unknown_delivery'],
  waitUntilIdle: ['timeout'],
  playScenario: ['unknown_scenario', 'refused'],
  playOwnScenario: ['refused'],
};

/** The description, as it is written to sandbox.json. */
export function describeSandbox(): object {
  const { answers, components } = readAnswers();
  components.Problem = PROBLEM;
  /** Returns the schema. Named schemas become components. */
  const schemaOf = (schema: z.ZodType): object => {
    const { $defs = {}, $schema, ...own } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override });
    for (const [name, part] of Object.entries($defs)) components[name] ??= part;
    return own;
  };
  const problem = (codes: readonly string[]) => ({
    description: codes.join(', '),
    content: { 'application/json': { schema: refTo('Problem') } },
  });
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path: route, name, summary, fields } of ROUTES) {
    const [query, body] = method === 'GET' ? [fields] : [undefined, fields];
    const path = PREFIX + route.replace(/:(\w+)/, '{$1}');
    const codes = [...(ERRORS[name] ?? []), ...(fields ? ['invalid' as const] : [])];
    const byStatus = Map.groupBy(codes, statusOf);
    const operation = {
      operationId: name,
      summary,
      parameters: [
        ...[...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => inPath(parameter as string)),
        ...inQuery(query, schemaOf),
      ],
      ...(body && { requestBody: { content: { 'application/json': { schema: schemaOf(body) } } } }),
      responses: {
        ...success(name, answers.get(name)),
        ...Object.fromEntries([...byStatus].map(([status, some]) => [status, problem(some)])),
        403: problem(['refused: a page of another site made a browser ask']),
      },
    };
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  const description = {
    openapi: '3.1.0',
    info: {
      title: "The payment gateway sandbox's own API",
      version: '1.0.0',
      summary: 'Drive the sandbox from a test in any language.',
      description: 'Everything that its pages and its command line do. It is not part of the gateway.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [],
    paths,
    components: { schemas: components },
  };
  return JSON.parse(JSON.stringify(description).replaceAll('#/$defs/', '#/components/schemas/'));
}

/** Removes bounds that only reflect JavaScript's number range. */
const override = ({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number } }): void => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
};

/** The routes that answer with something else than a JSON value that is described. */
const OTHERS: Readonly<Record<string, object>> = {
  streamEvents: {
    description: 'A stream. While it follows, it does not end by itself.',
    content: { 'application/x-ndjson': { schema: { type: 'string' } } },
  },
  getDescription: { description: 'Done.', content: { 'application/json': { schema: { type: 'object' } } } },
};

function success(name: string, answer: JsonSchema | undefined): object {
  if (answer) return { 200: { description: 'Done.', content: { 'application/json': { schema: answer } } } };
  return name in OTHERS ? { 200: OTHERS[name] } : { 204: { description: 'Done.' } };
}

const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } });

function inQuery(query: z.ZodType | undefined, schemaOf: (schema: z.ZodType) => object): object[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field) as { description?: string };
    return { name, in: 'query', required: false, ...(description && { description }), schema };
  });
}
