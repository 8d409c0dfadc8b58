// Holds traffic to an OpenAPI description, and the description itself to its standard.
import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface Content {
  content?: Record<string, { schema: object; examples?: Record<string, { value: unknown }> }>;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
}
interface Operation {
  operationId: string;
  security?: Record<string, string[]>[];
  parameters?: (Parameter & Reference)[];
  requestBody?: Content;
  responses: Record<string, Content & Reference>;
}
interface Reference {
  $ref?: string;
}
type PathItem = Reference & { [method in 'post' | 'get' | 'put' | 'patch' | 'delete']?: Operation };

interface Schema {
  properties?: object;
  discriminator?: { mapping: Record<string, string> };
}

/** An OpenAPI 3.1 description, as far as tests look at it. */
export interface Description {
  openapi: string;
  security?: Record<string, string[]>[];
  paths: Record<string, PathItem>;
  webhooks?: Record<string, PathItem>;
  components: Record<string, Record<string, object>> & { schemas: Record<string, Schema> };
}

/** @param name of a file in docs/openapi */
export const readDescription = (name: string): Description =>
  JSON.parse(readFileSync(new URL(`../../docs/openapi/${name}`, import.meta.url), 'utf8'));

/** Every part of a description that has a `key`, with its JSON pointer. */
function* partsWith(key: string, part: unknown, pointer = ''): Generator<[pointer: string, part: never]> {
  if (typeof part !== 'object' || part === null) return;
  if (key in part) yield [pointer, part as never];
  for (const [name, child] of Object.entries(part)) {
    // Examples are data.
    if (name !== 'examples') yield* partsWith(key, child, `${pointer}/${escaped(name)}`);
  }
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** What holds values and calls to a description. */
export function contractOf(description: Description) {
  // Strict: a keyword that JSON Schema does not know, or that has no effect where it stands, is an error.
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  formats.default(ajv);
  ajv.addVocabulary([...Object.keys(description), 'discriminator']);
  ajv.addSchema(description, 'description');

  /** What is wrong with a value by the schema at a JSON pointer; empty if nothing is. */
  function problems(pointer: string, value: unknown): string[] {
    const $ref = `description#${encodeURI(pointer)}`;
    const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref });
    if (validate(value)) return [];
    return (validate.errors ?? []).map(error => `${error.instancePath || 'the whole'} ${error.message}`);
  }

  function resolve<T extends Reference>(part: T, pointer: string): [part: T, pointer: string] {
    if (!part.$ref) return [part, pointer];
    const names = part.$ref.split('/').slice(1);
    const found = names.reduce<unknown>((whole, name) => (whole as Record<string, unknown>)[name], description);
    return [found as T, part.$ref.slice(1)];
  }

  /** The operation that a call reaches, and its JSON pointer. */
  function operationOf({ method, url }: Request): [Operation, string] | undefined {
    const { pathname } = new URL(url);
    const verb = method.toLowerCase();
    for (const [template, operations] of Object.entries(description.paths)) {
      const operation = operations[verb as 'post'];
      const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`);
      if (operation && pattern.test(pathname)) return [operation, `/paths/${escaped(template)}/${verb}`];
    }
    return undefined;
  }

  function requestProblems([operation, pointer]: [Operation, string], headers: Headers, body: string): string[] {
    const needsBearer = (operation.security ?? description.security ?? []).some(
      scheme => Object.keys(scheme).length > 0,
    );
    const required = (operation.parameters ?? [])
      .map(parameter => resolve(parameter, '')[0])
      .filter(parameter => parameter.in === 'header' && parameter.required);
    return [
      ...(needsBearer && !headers.get('authorization')?.startsWith('Bearer ') ? ['the bearer is missing'] : []),
      ...required.filter(({ name }) => !headers.get(name)).map(({ name }) => `the header ${name} is missing`),
      ...contentProblems(operation.requestBody ?? {}, `${pointer}/requestBody`, headers, body),
    ];
  }

  function answerProblems([{ responses }, pointer]: [Operation, string], { status, headers }: Response, body: string) {
    const key = [`${status}`, `${Math.floor(status / 100)}XX`, 'default'].find(key => key in responses) ?? '';
    const answer = responses[key];
    if (!answer) return [`the status ${status} is not described`];
    return contentProblems(...resolve(answer, `${pointer}/responses/${key}`), headers, body);
  }

  function contentProblems({ content }: Content, pointer: string, headers: Headers, body: string): string[] {
    if (!content) return [];
    const [type = ''] = headers.get('content-type')?.split(';') ?? [];
    if (!(type in content)) return [`the content type "${type}" is not described`];
    if (type !== 'application/json') return [];
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      return ['the body is no JSON'];
    }
    return problems(`${pointer}/content/${escaped(type)}/schema`, value);
  }

  /**
   * A fetch that finds what is wrong with each answer, and with each call that was taken: a refused one may be wrong.
   *
   * @param found gets a line for each problem
   */
  function watch(fetch: (request: Request) => Promise<Response>, found: string[]) {
    return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const request = new Request(input, init);
      const body = await request.clone().text();
      const response = await fetch(request);
      const answer = await response.clone().text();
      const operation = operationOf(request);
      const wrong = operation
        ? [
            ...(response.ok ? requestProblems(operation, request.headers, body) : []),
            ...answerProblems(operation, response, answer),
          ]
        : ['it is not described'];
      found.push(...wrong.map(problem => `${request.method} ${request.url} ${response.status}: ${problem}`));
      return response;
    };
  }

  /** What is wrong with a call that the other side makes. */
  function webhookProblems(name: string, headers: Headers, body: string): string[] {
    const [{ post }, pointer] = resolve(description.webhooks?.[name] ?? {}, `/webhooks/${name}`);
    return post ? requestProblems([post, `${pointer}/post`], headers, body) : [`the webhook ${name} is not described`];
  }

  return { problems, watch, webhookProblems };
}

/** Keeps the standard's schema compiled. */
const standard = new Validator();

/** What is wrong with a description: by the standard's own schema, by JSON Schema, and by our own rules. */
export async function lint(description: Description): Promise<string[]> {
  const { valid, errors } = await standard.validate(structuredClone(description) as never);
  if (!valid) return [JSON.stringify(errors)];
  const { problems } = contractOf(description);
  const ids = [...partsWith('operationId', description)].map(([, { operationId }]) => operationId);
  const references = [...partsWith('$ref', description)].map(([, { $ref }]) => $ref as string);
  const mappings = [...partsWith('mapping', description)].flatMap(([, { mapping }]) => Object.values<string>(mapping));
  const components = Object.entries(description.components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, named]) => Object.keys(named).map(name => `#/components/${kind}/${name}`));
  const undescribed = [...partsWith('properties', description)].flatMap(([pointer, { properties }]) =>
    Object.entries<Record<string, unknown>>(properties)
      .filter(([, field]) => !['description', 'const', '$ref'].some(keyword => keyword in field))
      .map(([name]) => `${pointer}/${name} has no description`),
  );
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map(id => `the operationId ${id} is there twice`),
    ...components.filter(name => !references.includes(name)).map(name => `${name} is not used`),
    ...mappings.filter(name => !components.includes(name)).map(name => `a discriminator leads to ${name}`),
    ...undescribed,
    ...[...partsWith('schema', description)].flatMap(([pointer, part]) => exampleProblems(problems, pointer, part)),
  ];
}

function exampleProblems(
  problems: (pointer: string, value: unknown) => string[],
  pointer: string,
  { examples = {} }: { examples?: Record<string, { value: unknown }> },
): string[] {
  // Also where there is no example: the schema must compile.
  problems(`${pointer}/schema`, undefined);
  return Object.entries(examples).flatMap(([name, { value }]) =>
    problems(`${pointer}/schema`, value).map(problem => `the example ${name} at ${pointer}: ${problem}`),
  );
}
