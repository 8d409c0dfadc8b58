// The second argument of every call: how long it may take, and what may stop it.
import { InvalidRequestError, type Issue } from './errors.ts';
import { unknownFields } from './schemas/hints.ts';

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the whole call.
   * @default the client's `timeout`
   */
  timeout?: number | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Further top-level fields of the body, for what the gateway knows and this SDK does not yet. */
  extra?: object | undefined;
}

/** The limits of a call, checked. */
export interface Limits {
  timeout: number;
  signal: AbortSignal | undefined;
}

/** Whether a value is milliseconds that a timer can keep: positive, finite, at most 24 days. */
export const isTimeout = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value <= 2 ** 31 - 1;

/** @throws {InvalidRequestError} naming the option that is wrong or unknown */
export function limitsOf(options: CallOptions | undefined, defaultTimeout: number): Limits {
  checkOptions(options, ['signal', 'timeout']);
  return { timeout: options?.timeout ?? defaultTimeout, signal: nativeSignal(options?.signal) };
}

/** @throws {InvalidRequestError} naming the option that is wrong or unknown */
export function creationLimitsOf(options: CreateOptions | undefined, defaultTimeout: number): Limits {
  checkOptions(options, ['signal', 'timeout', 'extra'], 'not_sent');
  return { timeout: options?.timeout ?? defaultTimeout, signal: nativeSignal(options?.signal) };
}

/** @throws {InvalidRequestError} naming the option that is wrong or unknown */
export function checkOptions(
  options: object | undefined,
  names: readonly string[],
  outcome?: 'not_sent',
): void {
  if (options === undefined || options === null) return;
  const issues = isSignal(options) ? [A_BARE_SIGNAL] : issuesOf(options, names);
  if (issues.length > 0) throw new InvalidRequestError(issues, outcome);
}

const isObjectOfFields = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every(field => typeof field !== 'function');

/** Fetch takes none but its own realm's: another one is followed. */
function nativeSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (!signal || signal instanceof AbortSignal) return signal;
  const other: AbortSignal = signal;
  const controller = new AbortController();
  const follow = () => controller.abort(other.reason);
  if (other.aborted) follow();
  else other.addEventListener('abort', follow, { once: true });
  return controller.signal;
}

/** By shape: a test runner's realm may have an AbortSignal of its own. */
const isSignal = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;

const A_BARE_SIGNAL = { path: 'options', message: 'must be an object: pass { signal }' };

function issuesOf(options: object, names: readonly string[]): Issue[] {
  const { signal, timeout, extra } = options as CreateOptions;
  const { until, onPoll } = options as { until?: unknown; onPoll?: unknown };
  const issues: Issue[] = [];
  const unknown = Object.keys(options).filter(name => !names.includes(name));
  if (unknown.length > 0) issues.push({ path: 'options', message: unknownFields(unknown, names) });
  if (timeout !== undefined && !isTimeout(timeout)) {
    issues.push({
      path: 'options.timeout',
      message: 'must be milliseconds, more than 0 and at most 24 days',
    });
  }
  if (signal !== undefined && !isSignal(signal)) {
    issues.push({
      path: 'options.signal',
      message: "must be an AbortSignal, such as a controller's `signal`",
    });
  }
  if (extra !== undefined && !isObjectOfFields(extra)) {
    issues.push({ path: 'options.extra', message: 'must be an object of fields that have a JSON' });
  }
  for (const [name, value] of Object.entries({ until, onPoll })) {
    if (value !== undefined && typeof value !== 'function') {
      issues.push({ path: `options.${name}`, message: 'must be a function' });
    }
  }
  return issues;
}
