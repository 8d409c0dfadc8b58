// What a merchant's listener gets to read: which payment it is about, and what to do.

import { ApiError, ConnectionError, type Payment } from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import type { CreateRow } from '../../src/store/creates.ts';
import * as reports from '../../src/store/reports.ts';
import { ID, OTHER_ID } from '../support/fixtures.ts';

const row = { reference: 'order "1"', paymentId: ID } as CreateRow;
const payment = { id: ID } as Payment;

/** What is told. */
function toldBy(tell: (client: never) => void): object[] {
  const told: object[] = [];
  tell({ call: { emit: (event: object) => told.push(event) } } as never);
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
        'create_not_recorded',
        'The end of the create could not be written to the store for five minutes. If the reference is in doubt, it stays so until its callback arrives or an operator settles it.',
        { reference: row.reference },
      ),
    ],
  ],
  [
    'in what a payment differs from its create',
    client => reports.warnMismatch(client, row.reference, payment, ['amount', 'currency']),
    [
      warning(
        'create_mismatch',
        `Payment ${ID} differs from the request in amount, currency. The reference stays in doubt: compare them, then call gateway.settle.`,
        of,
      ),
    ],
  ],
  [
    'that a reference may have two payments',
    client => reports.reportConflict(client, row.reference, ID, OTHER_ID),
    [
      { type: 'store', change: 'conflict', ...of },
      warning(
        'two_payments',
        `Reference "order \\"1\\"" may have two payments: ${ID} and ${OTHER_ID}. Check both.`,
        of,
      ),
    ],
  ],
  [
    'that a reference may have another payment, whose id nobody knows',
    client => reports.reportConflict(client, row.reference, ID, undefined),
    [
      { type: 'store', change: 'conflict', ...of },
      warning(
        'two_payments',
        `Reference "order \\"1\\"" may have two payments: ${ID} and one whose create is running or in doubt. Check both.`,
        of,
      ),
    ],
  ],
  [
    'that an answer is as the store last saw it',
    client => reports.warnStale(client, row.reference, ID),
    [
      warning(
        'stale_replay',
        `The lookup of payment ${ID} failed, so a repeated create returned the record that the store saw last: \`stale\` is true. Act on its status only after a lookup, or its callback.`,
        of,
      ),
    ],
  ],
  [
    'that a payment does not end, and after how many days',
    client => reports.warnGaveUp(client, row, 30 * 24 * 3_600_000),
    [
      { type: 'store', change: 'gave_up', ...of },
      warning(
        'sweep_gave_up',
        'The payment of reference "order \\"1\\"" is not final after 30 days, and upkeep does not look at it again. Ask the gateway. A later callback still takes effect.',
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
        'The payment of reference "order \\"1\\"" could not be processed. It is retried. Error (23505)',
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
        'The payment of reference "order \\"1\\"" could not be processed. It is retried. No connection.',
        of,
      ),
    ],
  ],
  [
    'how the gateway answered a planned payout',
    client => reports.warnNotSent(client, row, new ApiError('x', { status: 403, body: '{}' }, {})),
    [
      warning(
        'payout_not_sent',
        'upkeep: payout "order \\"1\\"" was not sent. It stays planned and is retried. The gateway answered 403. Check apiKey, signKey and signatureEncoding.',
        { reference: row.reference },
      ),
    ],
  ],
  [
    'why a planned payout was not sent',
    client => reports.warnNotSent(client, row, 'no key'),
    [
      warning(
        'payout_not_sent',
        'upkeep: payout "order \\"1\\"" was not sent. It stays planned and is retried. no key',
        { reference: row.reference },
      ),
    ],
  ],
  [
    'that the review of a refused payout could not be written',
    client => reports.warnReviewFailed(client, row, Object.assign(new Error('params: zoe'), { code: '23505' })),
    [
      warning(
        'upkeep_failed',
        'upkeep: the gateway refused payout "order \\"1\\"", and its review could not be written. It is retried. Error (23505)',
        { reference: row.reference },
      ),
    ],
  ],
  [
    'why upkeep could not continue',
    client => reports.warnUpkeepFailed(client, new Error('no database')),
    [warning('upkeep_failed', 'upkeep could not continue, and tries again: no database', {})],
  ],
])('the SDK reports %s', (_, tell, told) => {
  expect(toldBy(tell)).toEqual(told);
});
