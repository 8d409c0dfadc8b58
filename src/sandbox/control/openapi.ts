// Describes the sandbox's own API in OpenAPI 3.1, generated from its routes.
import * as z from 'zod';
import { PREFIX, type Route, statusOf } from './define.ts';
import { problemShape } from './shapes.ts';

export function describe(routes: readonly Route[]): object {
  const components: Record<string, object> = {};
  /** Returns the schema. Named schemas become components. */
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): object => {
    const { $defs = {}, $schema, ...own } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override });
    for (const [name, part] of Object.entries($defs)) components[name] ??= part;
    return own;
  };
  const problem = (codes: readonly string[]) => ({
    description: codes.join(', '),
    content: { 'application/json': { schema: schemaOf(problemShape, 'output') } },
  });
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, name, summary, query, body, answer, errors = [] } of routes) {
    const codes = [...errors, ...(query || body ? ['invalid' as const] : [])];
    const byStatus = Map.groupBy(codes, statusOf);
    const operation = {
      operationId: name,
      summary,
      parameters: [
        ...[...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => inPath(parameter as string)),
        ...inQuery(query, schemaOf),
      ],
      ...(body && { requestBody: { content: { 'application/json': { schema: schemaOf(body, 'input') } } } }),
      responses: {
        ...success(answer, schemaOf),
        ...Object.fromEntries([...byStatus].map(([status, some]) => [status, problem(some)])),
        403: problem(['refused: a page of another site made a browser ask']),
      },
    };
    paths[PREFIX + path] = { ...paths[PREFIX + path], [method.toLowerCase()]: operation };
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

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => object;

function success(answer: Route['answer'], schemaOf: SchemaOf): object {
  if (!answer) return { 204: { description: 'Done.' } };
  if ('contentType' in answer) {
    const { contentType, description } = answer;
    return { 200: { description, content: { [contentType]: { schema: { type: 'string' } } } } };
  }
  return { 200: { description: 'Done.', content: { 'application/json': { schema: schemaOf(answer, 'output') } } } };
}

const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } });

function inQuery(query: z.ZodType | undefined, schemaOf: SchemaOf): object[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field, 'input') as { description?: string };
    return { name, in: 'query', required: false, ...(description && { description }), schema };
  });
}
