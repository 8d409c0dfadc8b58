// Reads a scenario out of YAML or JSON, and says at which line of it something is wrong.
import type { Document, LineCounter } from 'yaml';
import type * as z from 'zod';
import { ConfigurationError } from '../../errors.ts';
import { ACTIONS, actionsIn, type Scenario, scenarioSchema } from './format.ts';

/** One thing that is wrong, and the path that leads to it. */
interface Wrong {
  path: PropertyKey[];
  message: string;
  /** Where the fault is one of a name, and not of its value. */
  key?: string | undefined;
}

/**
 * Reads a scenario out of YAML, of which JSON is a part.
 *
 * @throws {ConfigurationError} naming the line, the field and what to write there
 */
export async function readScenario(text: string): Promise<Scenario> {
  // Only those who read YAML wait until its parser is loaded.
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) throw refusal([`line ${lines.linePos(error.pos[0]).line}: ${firstLine(error.message)}`]);
  return check(contentOf(document), wrong => `line ${lineOf(wrong, document, lines)}: ${told(wrong)}`);
}

/** @throws {ConfigurationError} naming the field and what to write there */
export const checkScenario = (value: unknown): Scenario => check(value, told);

function check(value: unknown, tell: (wrong: Wrong) => string): Scenario {
  const { success, data, error } = scenarioSchema.safeParse(value);
  if (success) return data;
  throw refusal(error.issues.flatMap(issue => wrongsOf(issue, value)).map(tell));
}

const refusal = (problems: readonly string[]) => new ConfigurationError(`Scenario: ${problems.join('; ')}.`);

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

/** @throws {ConfigurationError} for aliases without end */
function contentOf(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw refusal([firstLine((error as Error).message)]);
  }
}

/** Of a step, what is wrong with the kind of step that it is meant to be. */
function wrongsOf(issue: z.core.$ZodIssue, value: unknown): Wrong[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys') return [{ path, message, key: issue.keys[0] }];
  const [list, index, ...below] = path;
  if (issue.code !== 'invalid_union' || list !== 'steps' || typeof index !== 'number' || below.length > 0) {
    return [{ path, message }];
  }
  const step = (value as Scenario).steps?.[index];
  const [action, ...others] = actionsIn(step);
  if (!action || others.length > 0) return [{ path, message: `must have one of ${ACTIONS.join(', ')}, and only one` }];
  const errors = issue.errors[ACTIONS.indexOf(action)] ?? [];
  return errors.flatMap(inner => wrongsOf({ ...inner, path: [...path, ...inner.path] }, value));
}

/** `steps[1].move is no move: …` */
function told({ path, message }: Wrong): string {
  const name = path.map(part => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return [name.replace(/^\./, ''), message].filter(Boolean).join(' ');
}

/** Of the field, or of the innermost thing around it that is there. */
function lineOf({ path, key }: Wrong, document: Document, lines: LineCounter): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true) as Positioned | undefined;
    const pair = length === path.length && node?.items?.find(item => item?.key?.value === key);
    const at = (pair ? pair.key?.range : node?.range)?.[0];
    if (at !== undefined) return lines.linePos(at).line;
  }
  return 1;
}

interface Positioned {
  range?: [number, number, number] | null;
  items?: ({ key?: { value?: unknown; range?: [number, number, number] | null } } | null)[];
}
