// What a merchant's listener gets to read: which payment it is about, and what to do.
import { ApiError, ConnectionError, type JournalRow, type Payment } from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import * as reports from '../../src/journal/reports.ts';
import { ID, OTHER_ID } from '../support/fixtures.ts';

const row = { reference: 'order "1"', paymentId: ID } as JournalRow;
const payment = { id: ID } as Payment;

/** What is told. */
function toldBy(tell: (client: never) => void): object[] {
  const told: object[] = [];
  tell({ call: { tell: (event: object) => told.push(event) } } as never);
  return told;
}

const warning = (code: string, message: string, given: { reference?: string; paymentId?: string }) => ({
  type: 'warning',
  code,
  message,
  reference: undefined,
  paymentId: undefined,
  ...given,
});
const of = { reference: row.reference, paymentId: ID };

it.each<[string, (client: never) => void, object[]]>([
  [
    'that the end of a create could not be written down',
    client => reports.warnNotRecorded(client, row.reference),
    [
      warning(
        'journal_not_recorded',
        'What became of the create could not be written to the journal for five minutes. If the reference is in doubt, it stays so until its callback arrives or an operator settles it.',
        { reference: row.reference },
      ),
    ],
  ],
  [
    'in what a payment differs from its create',
    client => reports.warnMismatch(client, row.reference, payment, ['amount', 'currency']),
    [
      warning(
        'journal_mismatch',
        `Payment ${ID} differs from the request in amount, currency. The reference stays in doubt: compare them, then call gateway.settle.`,
        of,
      ),
    ],
  ],
  [
    'that a reference may have two payments',
    client => reports.reportConflict(client, row.reference, ID, OTHER_ID),
    [
      { type: 'journal', change: 'conflict', ...of },
      warning(
        'journal_two_payments',
        `Reference "order \\"1\\"" may have two payments: ${ID} and ${OTHER_ID}. Check both.`,
        of,
      ),
    ],
  ],
  [
    'that a reference may have another payment, whose id nobody knows',
    client => reports.reportConflict(client, row.reference, ID, undefined),
    [
      { type: 'journal', change: 'conflict', ...of },
      warning(
        'journal_two_payments',
        `Reference "order \\"1\\"" may have two payments: ${ID} and one whose create is under way, or in doubt. Check both.`,
        of,
      ),
    ],
  ],
  [
    'that an answer is as the journal last saw it',
    client => reports.warnStale(client, row.reference, ID),
    [
      warning(
        'journal_stale_replay',
        `The lookup of payment ${ID} failed, so a repeated create answered it as the journal last saw it: \`stale\` is true. Act on its status only after a lookup, or its callback.`,
        of,
      ),
    ],
  ],
  [
    'that a payment does not end, and after how many days',
    client => reports.warnGaveUp(client, row, 30 * 24 * 3_600_000),
    [
      { type: 'journal', change: 'gave_up', ...of },
      warning(
        'sweep_gave_up',
        'The payment of reference "order \\"1\\"" is not final after 30 days, and no sweep looks at it again. Ask the gateway; if its callback comes, it takes effect all the same.',
        of,
      ),
    ],
  ],
  [
    'why a payment could not be swept',
    client => reports.warnNotSwept(client, row, Object.assign(new Error('params: zoe'), { code: '23505' })),
    [
      warning(
        'sweep_failed',
        'The payment of reference "order \\"1\\"" could not be processed, and is tried again later: Error (23505)',
        of,
      ),
    ],
  ],
  [
    'why the gateway could not be asked about one, in its own words',
    client => reports.warnNotSwept(client, row, new ConnectionError('No connection.', 'ECONNREFUSED')),
    [
      warning(
        'sweep_failed',
        'The payment of reference "order \\"1\\"" could not be processed, and is tried again later: No connection.',
        of,
      ),
    ],
  ],
  [
    'why a planned create was refused',
    client => reports.warnRefused(client, row, new Error('amount: too much')),
    [
      warning(
        'plan_refused',
        'The planned create of "order \\"1\\"" was refused, and is not sent again. Correct it, and plan it again. amount: too much',
        { reference: row.reference },
      ),
    ],
  ],
  [
    'how the gateway answered a planned create',
    client => reports.warnNotSent(client, row, new ApiError('x', { status: 403, body: '{}' }, {})),
    [
      warning(
        'plan_not_sent',
        'The planned create of "order \\"1\\"" cannot be sent by this client, and is tried again later. The gateway answered 403. Check apiKey, signKey and signatureEncoding.',
        { reference: row.reference },
      ),
    ],
  ],
  [
    'why a planned create cannot be sent',
    client => reports.warnNotSent(client, row, 'no key'),
    [
      warning(
        'plan_not_sent',
        'The planned create of "order \\"1\\"" cannot be sent by this client, and is tried again later. no key',
        { reference: row.reference },
      ),
    ],
  ],
  [
    'why a drain stands still',
    client => reports.warnDrainFailed(client, new Error('no database')),
    [warning('drain_failed', 'The drain could not go on, and tries again: no database', {})],
  ],
])('a journal tells %s', (_, tell, told) => {
  expect(toldBy(tell)).toEqual(told);
});
