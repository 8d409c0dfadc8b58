// Injects faults into calls: some keep a call from the gateway, others change its record or its answer.
import { delay, withSignal } from '../../deadline.ts';
import { type Answer, breakOff, refusing } from '../answer.ts';
import type { AcceptedRequest, PaymentRecord } from '../ledger/record.ts';
import { millisecondsOf, toPhpDate, toPhpJson } from '../text/php.ts';
import type { CallFault } from './kinds.ts';

export interface Effect {
  /** Answers instead of the gateway. @throws to break the connection */
  before?(): Answer;
  /** Changes the gateway's record. */
  record?(request: AcceptedRequest): Partial<PaymentRecord>;
  /** Changes the answer. @throws to break the connection, and as soon as the caller aborts */
  after?(answer: Answer, signal: AbortSignal, ms?: number): Answer | Promise<Answer>;
}

/** The effect of each fault. `callback-first` only changes the order of the calls. */
export const EFFECTS: Readonly<Record<CallFault, Effect>> = {
  drop: { before: breakOff },
  'reject-401': { before: () => refusing(401, 'Unauthenticated. (A fault was armed.)') },
  'reject-422': {
    before: () =>
      refusing(422, 'The given data was invalid. (A fault was armed.)', {
        errors: { currency: ['This currency is not enabled for the terminal.'] },
      }),
  },
  'reject-429': { before: () => refusing(429, 'Too many requests. (A fault was armed.)', {}, { 'retry-after': '1' }) },
  'callback-first': {},
  'reference-trim': { record: ({ reference }) => ({ reference: reference?.trim() ?? null }) },
  'reference-fold': { record: ({ reference }) => ({ reference: reference?.toLowerCase() ?? null }) },
  'amount-round': { record: ({ amount }) => ({ amount: Math.max(Math.round(amount), 1) }) },
  'commit-then-drop': { after: breakOff },
  'commit-then-cut': { after: answer => ({ ...answer, isCut: true }) },
  'commit-then-502': {
    after: answer => ({ ...answer, status: 502, headers: { 'content-type': 'text/html' }, body: BAD_GATEWAY }),
  },
  'commit-then-truncate': { after: answer => ({ ...answer, body: answer.body.slice(0, answer.body.length / 2) }) },
  'commit-then-drift': changed(({ amount, currency }) => ({ amount: { value: String(amount), currency } })),
  'unknown-status': changed(() => ({ paymentStatus: 'IN_REVIEW' })),
  'created-offset': changed(createdIn('+02:00', 1, 2)),
  'created-abbreviation': changed(createdIn('EST', 2, -5)),
  // Longer than a client's default timeout of 30 s.
  slow: { after: (answer, signal, ms = 35_000) => withSignal(delay(ms, signal), signal).then(() => answer) },
};

const BAD_GATEWAY =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n' +
  '<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n';

/** Changes fields of an answer's record, wrapped or unwrapped. */
function changed(change: (record: PaymentRecord) => object): Effect {
  const of = (record: PaymentRecord) => ({ ...record, ...change(record) });
  return {
    after(answer) {
      const value = JSON.parse(answer.body);
      const body = toPhpJson(value.result ? { ...value, result: of(value.result) } : of(value));
      return { ...answer, body };
    },
  };
}

/** Writes the same moment in a time zone east of UTC by these hours. */
function createdIn(timezone: string, timezone_type: number, hours: number) {
  return ({ created }: PaymentRecord) => ({
    created: { ...toPhpDate(millisecondsOf(created) + hours * 3_600_000), timezone_type, timezone },
  });
}
