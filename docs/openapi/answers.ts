// The answers of the sandbox's own API in JSON Schema, from the TypeScript types that its routes return.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { commentOnMember } from './comments.ts';
import { type JsonSchema, refTo } from './wire.ts';

/** The types that become components, with their names there. */
const COMPONENTS: Readonly<Record<string, string>> = {
  PaymentRecord: 'Payment',
  Delivery: 'Delivery',
  ShownCall: 'Call',
  SandboxEvent: 'Event',
  Armed: 'ArmedFault',
  ShownClock: 'Clock',
  Played: 'Played',
};

/** The fields whose types have no doc comment. */
const WORDS: Readonly<Record<string, string>> = {
  at: "Milliseconds since 1970, by the sandbox's clock.",
  apiKey: 'The bearer key of every call.',
  base64: 'In base64.',
  body: 'As text.',
  calls: 'Those of this page.',
  curl: 'With curl and openssl.',
  deliveries: 'Those of this page.',
  delivery: 'The post.',
  does: 'One sentence about it.',
  durationMs: 'Milliseconds until the answer.',
  fault: 'The name of the fault.',
  faults: 'Those that wait.',
  from: 'The state before.',
  headers: 'As they were sent.',
  hex: 'In hex.',
  isCut: 'Whether the connection broke in the middle of the body.',
  isDisarmed: 'Whether it was disarmed.',
  method: 'The HTTP method.',
  ms: 'Milliseconds.',
  name: 'The name of the scenario.',
  node: 'In JavaScript for Node.',
  offset: 'How far the clock was moved, in milliseconds.',
  on: 'The call or callback that meets it.',
  payment: 'The payment.',
  paymentId: 'The id of the payment.',
  paymentStatus: 'The state of the payment.',
  paymentType: 'Whether the customer pays or is paid.',
  payments: 'Those of this page.',
  php: 'In PHP.',
  probability: 'The probability of injecting it. Absent: always.',
  problems: 'A sentence for each unmet expectation.',
  python: 'In Python.',
  scenarios: 'All of them.',
  signKey: 'The key that creates must be signed with.',
  signatureEncoding: 'The encoding of a signature.',
  status: 'The HTTP status.',
  terminal: 'The terminal, which decides the methods of deposits.',
  text: 'Its file, in YAML.',
  total: 'The number on all pages.',
  url: 'The address that it was posted to.',
};

const INTEGERS = /^(?:id|total|count|status|bodyLength|deliveries|timezone_type|repeats|callId)$/;
const UUIDS = /^(?:id|paymentId)$/;

const file = fileURLToPath(new URL('../../src/sandbox/control/routes.ts', import.meta.url));
const { TypeFlags } = ts;

/** Returns the schema of each answer by the name of its route, and their components. */
export function readAnswers() {
  const program = ts.createProgram([file], {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  const components: Record<string, JsonSchema> = {};

  const commentOn = (symbol: ts.Symbol): string =>
    ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\s+/g, ' ');

  function schemaOf(type: ts.Type): JsonSchema {
    const symbol = type.aliasSymbol ?? type.symbol;
    const name = COMPONENTS[symbol?.name];
    if (!name) return inline(type);
    components[name] ??= { description: commentOn(symbol), ...inline(type) };
    return refTo(name);
  }

  function inline(type: ts.Type): JsonSchema {
    const parts = type.isUnion() ? type.types.filter(({ flags }) => !(flags & TypeFlags.Undefined)) : [type];
    const texts = parts
      .filter(part => part.isStringLiteral())
      .map(({ value }) => value)
      .toSorted();
    const schemas = parts.filter(part => !part.isStringLiteral()).map(partOf);
    if (texts.length > 0)
      schemas.unshift({ type: 'string', ...(texts.length > 1 ? { enum: texts } : { const: texts[0] }) });
    const [first = {}, ...others] = [...new Map(schemas.map(schema => [JSON.stringify(schema), schema])).values()];
    return others.length > 0 ? { anyOf: [first, ...others] } : first;
  }

  function partOf(type: ts.Type): JsonSchema {
    if (type.flags & TypeFlags.Unknown) return {};
    if (type.flags & TypeFlags.String) return { type: 'string' };
    if (type.flags & TypeFlags.Number) return { type: 'number' };
    if (type.flags & TypeFlags.BooleanLike) return { type: 'boolean' };
    if (type.flags & TypeFlags.Null) return { type: 'null' };
    if (type.flags & TypeFlags.NonPrimitive) return { type: 'object' };
    if (!(type.flags & (TypeFlags.Object | TypeFlags.Intersection)))
      throw new Error(`No JSON: ${checker.typeToString(type)}`);
    const items = checker.getTypeArguments(type as ts.TypeReference);
    if (checker.isTupleType(type)) {
      const bounds = { minItems: items.length, maxItems: items.length };
      return { type: 'array', ...(items.length > 0 && { prefixItems: items.map(schemaOf) }), ...bounds };
    }
    return checker.isArrayType(type) ? { type: 'array', items: schemaOf(items[0] as ts.Type) } : objectOf(type);
  }

  function objectOf(type: ts.Type): JsonSchema {
    // The checker's own order changes with unrelated code.
    const placeOf = ({ declarations }: ts.Symbol) => declarations?.[0]?.pos ?? 0;
    const symbols = type.getProperties().toSorted((one, other) => placeOf(one) - placeOf(other));
    const others = type.getStringIndexType();
    const required = symbols.filter(({ flags }) => !(flags & ts.SymbolFlags.Optional)).map(({ name }) => name);
    return {
      type: 'object',
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(symbols.map(symbol => [symbol.name, fieldOf(symbol)])),
      additionalProperties: others ? schemaOf(others) : false,
    };
  }

  function fieldOf(symbol: ts.Symbol): JsonSchema {
    const { name } = symbol;
    const schema = schemaOf(checker.getTypeOfSymbol(symbol));
    if (schema.type === 'number' && INTEGERS.test(name)) schema.type = 'integer';
    if (schema.type === 'string' && UUIDS.test(name)) schema.format = 'uuid';
    const description =
      commentOn(symbol) || WORDS[name] || commentOnMember('FailedPayment', name) || commentOnMember('Timestamp', name);
    return { ...schema, ...(description && { description }) };
  }

  const answers = new Map<string, JsonSchema>();
  /** Reads each call of `route(address, name, summary, { run })` whose `run` returns JSON. */
  function visit(node: ts.Node): void {
    const [, name, , rest] = ts.isCallExpression(node) && node.expression.getText() === 'route' ? node.arguments : [];
    if (name && ts.isStringLiteral(name) && rest) {
      const run = checker.getTypeAtLocation(rest).getProperty('run') as ts.Symbol;
      const [call] = checker.getTypeOfSymbol(run).getCallSignatures() as [ts.Signature];
      const answer = checker.getAwaitedType(call.getReturnType()) as ts.Type;
      if (!(answer.flags & TypeFlags.Void) && answer.symbol?.name !== 'Response')
        answers.set(name.text, schemaOf(answer));
    }
    ts.forEachChild(node, visit);
  }
  for (const source of program.getSourceFiles()) if (source.fileName.includes('/sandbox/control/')) visit(source);
  return { answers, components };
}
