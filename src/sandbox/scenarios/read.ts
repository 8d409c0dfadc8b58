// Reads a scenario from YAML or JSON, and reports the line of a mistake.
import type { Document, LineCounter, Node } from 'yaml';
import type * as z from 'zod';
import { ConfigurationError } from '../../errors.ts';
import { type Scenario, scenarioSchema } from './format.ts';

type Wrong = z.core.$ZodIssue;

/**
 * Reads a scenario from YAML or JSON.
 *
 * @throws {ConfigurationError} naming the line, the field and the correction
 */
export async function readScenario(text: string): Promise<Scenario> {
  // Loaded here, so that only readers of YAML wait for its parser.
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) throw refusal([`line ${lines.linePos(error.pos[0]).line}: ${error.message}`]);
  return checkScenario(contentOf(document), wrong => `line ${lineOf(wrong, document, lines)}: ${told(wrong)}`);
}

export function checkScenario(value: unknown, tell = told): Scenario {
  const { success, data, error } = scenarioSchema.safeParse(value);
  if (success) return data;
  throw refusal(error.issues.map(tell));
}

const refusal = (problems: readonly string[]) => new ConfigurationError(`Scenario: ${problems.join('; ')}.`);

function contentOf(document: Document) {
  try {
    return document.toJS();
  } catch (error) {
    // An alias without an anchor, or aliases without end.
    throw refusal([(error as Error).message]);
  }
}

/** `steps[1].move is an unknown move …` */
function told({ path, message }: Wrong) {
  const name = path.map(part => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return `${name.replace(/^\./, '')} ${message}`.trim();
}

/** Returns the line of the field, or of the innermost existing part around it. */
function lineOf({ path, ...issue }: Wrong, document: Document, lines: LineCounter): number {
  const whole = issue.code === 'unrecognized_keys' ? [...path, issue.keys[0]] : path;
  for (let length = whole.length; length >= 0; length -= 1) {
    const node = document.getIn(whole.slice(0, length), true) as Node | undefined;
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
