// Injects faults into calls: some keep a call from the gateway, others change its answer.
import { delay } from '../../deadline.ts';
import { type Answer, answering, connectionBroke, JSON_TYPE, refusing } from '../answer.ts';
import { millisecondsOf, type PhpDate, toPhpDate } from '../php.ts';
import type { Armed } from './faults.ts';
import type { CallFault } from './kinds.ts';

/** Milliseconds: longer than a client's default timeout of 30 s. */
const SLOW = 35_000;

/**
 * Returns the answer of a fault that keeps the call from the gateway.
 *
 * @throws to break the connection
 */
export function injectBefore(fault: CallFault | undefined): Answer | undefined {
  switch (fault) {
    case 'drop':
      throw connectionBroke();
    case 'reject-401':
      return refusing(401, 'Unauthenticated. (A fault was armed.)');
    case 'reject-422':
      return refusing(422, 'The given data was invalid. (A fault was armed.)', {
        errors: { currency: ['This currency is not enabled for the terminal.'] },
      });
    case 'reject-429': {
      const busy = refusing(429, 'Too many requests. (A fault was armed.)');
      return { ...busy, headers: { ...busy.headers, 'retry-after': '1' } };
    }
  }
}

/**
 * Returns the changed answer, after the gateway has taken the call.
 *
 * @throws to break the connection, and as soon as the caller aborts
 */
export async function injectAfter(
  { fault, ms }: Armed<CallFault>,
  answer: Answer,
  signal: AbortSignal,
): Promise<Answer> {
  switch (fault) {
    case 'commit-then-drop':
      throw connectionBroke();
    case 'commit-then-cut':
      return { ...answer, isCut: true };
    case 'commit-then-502':
      return { ...answer, status: 502, headers: { 'content-type': 'text/html' }, body: BAD_GATEWAY };
    case 'commit-then-truncate':
      return { ...answer, body: answer.body.slice(0, answer.body.length / 2) };
    case 'commit-then-drift':
      return changed(answer, ({ amount, currency }) => ({ amount: { value: String(amount), currency } }));
    case 'unknown-status':
      return changed(answer, () => ({ paymentStatus: 'IN_REVIEW' }));
    case 'created-offset':
      return changed(answer, record => ({ created: created(record, '+02:00', 1, 2) }));
    case 'created-abbreviation':
      return changed(answer, record => ({ created: created(record, 'EST', 2, -5) }));
    case 'slow':
      await delay(ms ?? SLOW, signal);
      return answer;
    default:
      return answer;
  }
}

const BAD_GATEWAY =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n' +
  '<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n';

interface Fields {
  amount?: unknown;
  currency?: unknown;
  created?: PhpDate;
}

/** Returns the same moment in a time zone east of UTC by these hours. */
const created = ({ created }: Fields, timezone: string, timezone_type: number, hours: number) =>
  created && { ...toPhpDate(millisecondsOf(created) + hours * 3_600_000), timezone_type, timezone };

/** Changes fields of an answer's record, wrapped or unwrapped. */
function changed(answer: Answer, change: (record: Fields) => object): Answer {
  const { result, ...beside } = JSON.parse(answer.body);
  const value = result ? { ...beside, result: { ...result, ...change(result) } } : { ...beside, ...change(beside) };
  return { ...answering(value, answer.status, answer.paymentId), headers: answer.headers ?? JSON_TYPE };
}
