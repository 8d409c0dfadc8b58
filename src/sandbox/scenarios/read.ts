// Reads a scenario from YAML or JSON, and describes its mistakes.
import type * as z from 'zod';
import { ConfigurationError } from '../../errors.ts';
import { ACTIONS, actionsIn, type Scenario, scenarioSchema } from './format.ts';

/**
 * Reads a scenario from YAML or JSON.
 *
 * @throws {ConfigurationError} naming the field and the correction
 */
export async function readScenario(text: string): Promise<Scenario> {
  // Loaded here, so that only readers of YAML wait for its parser.
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(text, { logLevel: 'error' });
  } catch (error) {
    const [line = ''] = (error as Error).message.split(/:?\n/);
    throw refusal([line.includes('call stack') ? 'it is nested too deeply' : line]);
  }
  return checkScenario(value);
}

/** @throws {ConfigurationError} naming the field and the correction */
export function checkScenario(value: unknown): Scenario {
  const { success, data, error } = scenarioSchema.safeParse(value);
  if (success) return data;
  throw refusal(error.issues.flatMap(issue => mistakesIn(issue, value)));
}

const refusal = (problems: readonly string[]) => new ConfigurationError(`Scenario: ${problems.join('; ')}.`);

/** Returns a sentence for each mistake. For a step, these are the mistakes of its intended kind. */
function mistakesIn(issue: z.core.$ZodIssue, value: unknown): string[] {
  const { path, message } = issue;
  const [list, index, ...below] = path;
  if (issue.code !== 'invalid_union' || list !== 'steps' || typeof index !== 'number' || below.length > 0) {
    return [described(path, message)];
  }
  const [action, ...others] = actionsIn((value as Scenario).steps?.[index]);
  if (!action || others.length > 0) return [described(path, `must have one of ${ACTIONS.join(', ')}, and only one`)];
  const errors = issue.errors[ACTIONS.indexOf(action)] ?? [];
  return errors.flatMap(inner => mistakesIn({ ...inner, path: [...path, ...inner.path] }, value));
}

/** `steps[1].move is no move: …` */
function described(path: readonly PropertyKey[], message: string): string {
  const name = path.map(part => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return [name.replace(/^\./, ''), message].filter(Boolean).join(' ');
}
