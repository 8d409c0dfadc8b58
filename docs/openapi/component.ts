// A component of the description: an object of the wire, from the zod schema of it to JSON Schema.
import * as z from 'zod';
import { commentOn, commentOnMember } from './comments.ts';
import { type JsonSchema, refTo, WIRE } from './wire.ts';

/** An object on the wire. */
export interface Component {
  name: string;
  schema: z.ZodObject;
  /** The components whose fields it has as well. */
  bases?: readonly string[];
  title?: string;
  /** If the doc comment of the interface with its name does not say it. */
  description?: string;
  /** The interface whose doc comments its fields have, if that is not the one with its name. */
  comments?: string;
}

/** The objects that a zod schema chooses from. */
export function objectsOf(schema: z.core.$ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(objectsOf);
  if (schema instanceof z.ZodPipe) return objectsOf(schema.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return objectsOf(schema.unwrap());
  return [];
}

/** The one object of a zod schema, under the name of its interface. */
export function componentOf(name: string, schema: z.core.$ZodType): Component {
  const [object, ...others] = objectsOf(schema);
  if (!object || others.length > 0) throw new Error(`${name} is not one object.`);
  return { name, schema: object };
}

/** What the SDK reads leniently, `schema` or anything else, is on the wire what `schema` says. */
function isLenient(schema: z.core.$ZodType): boolean {
  const last = schema instanceof z.ZodUnion ? schema.options.at(-1) : undefined;
  return last instanceof z.ZodOptional && last.unwrap() instanceof z.ZodPipe;
}

/** Each component as JSON Schema, by its name. */
export function render(components: readonly Component[]): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const { name, schema } of components) registry.add(schema, { id: name });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: id => `#/components/schemas/${id}`,
    unrepresentable: 'any', // what the second half of a lenient field gives
    override: ({ zodSchema, jsonSchema }) => {
      // Objects are open by default. Where no field is known it is said, or some generators make an empty type of it.
      if (zodSchema instanceof z.ZodObject) delete jsonSchema.additionalProperties;
      if (zodSchema instanceof z.ZodRecord) {
        delete jsonSchema.propertyNames;
        jsonSchema.additionalProperties = true;
      }
      if (!isLenient(zodSchema)) return;
      const { anyOf: [strict] = [] } = jsonSchema;
      delete jsonSchema.anyOf;
      Object.assign(jsonSchema, strict);
    },
  });
  return Object.fromEntries(components.map(component => [component.name, finish(component, schemas[component.name])]));
}

/** `RequestFields` is `Request Fields`. */
const wordsOf = (name: string): string => name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ');

function finish(component: Component, schema: JsonSchema = {}): JsonSchema {
  const { name, title = wordsOf(name), description, bases, comments = name } = component;
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([field, keywords]) => {
    const comment = commentOnMember(comments, field);
    return [field, { description: comment, ...keywords, ...WIRE[`${name}.${field}`] }] as const;
  });
  return {
    title,
    description: description ?? commentOn(name),
    allOf: bases?.map(refTo),
    type: 'object',
    required: schema.required,
    properties: Object.fromEntries(fields),
    ...WIRE[name],
  };
}
