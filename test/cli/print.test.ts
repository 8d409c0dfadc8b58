// How doubts and references are printed for people.
import { expect, it } from 'vitest';
import { doubtsTable, entryText, reviewsTable } from '../../src/cli/print.ts';
import type { Doubt, Entry } from '../../src/payments/references.ts';
import type { Review } from '../../src/store/rules/payment-row.ts';
import { ID, OTHER_ID } from '../support/fixtures.ts';

const DOUBT: Doubt = {
  scope: 'eu',
  reference: 'payout-77',
  since: new Date('2026-11-23T10:20:30.456Z'),
  paymentType: 'WITHDRAWAL',
  paymentMethod: 'SEPA',
  amount: '120',
  currency: 'EUR',
  conflictingIds: [],
  underWay: false,
};
const ENTRY: Entry = { ...DOUBT, state: 'begun' };
const HOSTILE = 'a\u001b[31m\nb';

it('reviews are a table, with the next step', () => {
  const since = new Date('2026-11-23T10:20:30.456Z');
  const refused: Review = { id: 'payout-77', status: 'REFUSED', reason: 'payout_refused', since };
  const paid: Review = {
    ...{ id: ID, status: 'COMPLETED', reason: 'already_paid', since, paymentId: ID },
    ...{ amount: 9.5, currency: 'EUR', reference: 'a.2', order: 'a' },
  };
  expect(reviewsTable([refused, paid], 'eu').split('\n')).toEqual([
    `  ID${' '.repeat(36)}STATUS     REASON          SINCE                 AMOUNT   REFERENCE  ORDER`,
    `  payout-77${' '.repeat(29)}REFUSED    payout_refused  2026-11-23T10:20:30Z  -        -          -`,
    `  ${ID}  COMPLETED  already_paid    2026-11-23T10:20:30Z  9.5 EUR  a.2        a`,
    '',
    'Check each payment and act on it. Then:',
    '  npx payment-gateway-sdk resolve <id> <status>',
  ]);
});

it('doubts are a table, with what to do about them', () => {
  const rows = [
    DOUBT,
    { ...DOUBT, reference: 'p', amount: '9.5', underWay: true, paymentId: ID, conflictingIds: [OTHER_ID] },
  ];
  expect(doubtsTable(rows, 'eu').split('\n')).toEqual([
    '  REFERENCE  SINCE                 TYPE        METHOD  AMOUNT   STATE     PAYMENT',
    '  payout-77  2026-11-23T10:20:30Z  WITHDRAWAL  SEPA    120 EUR  in doubt  -',
    `  p          2026-11-23T10:20:30Z  WITHDRAWAL  SEPA    9.5 EUR  running   ${ID} ${OTHER_ID}`,
    '',
    "Ask the gateway's support about those in doubt. Then:",
    '  npx payment-gateway-sdk settle <reference> <id|not_created>',
  ]);
});

it('an entry tells all that the store knows', () => {
  expect(entryText(ENTRY).split('\n')).toEqual([
    '  reference  payout-77',
    '  state      in doubt',
    '  since      2026-11-23T10:20:30Z',
    '  asked for  WITHDRAWAL by SEPA, 120 EUR',
    '  payment    -',
    '  scope      eu',
  ]);
  const payment = {
    id: ID,
    paymentStatus: 'COMPLETED',
    paymentType: 'WITHDRAWAL',
    amount: 120,
    currency: 'EUR',
  } as const;
  expect(
    entryText({ ...ENTRY, state: 'created', paymentId: ID, payment, conflictingIds: [OTHER_ID, 'x'] }).split('\n'),
  ).toEqual([
    '  reference      payout-77',
    '  state          created',
    '  since          2026-11-23T10:20:30Z',
    '  asked for      WITHDRAWAL by SEPA, 120 EUR',
    `  payment        ${ID}, COMPLETED when last seen`,
    `  may also have  ${OTHER_ID} x`,
    '  scope          eu',
  ]);
});

it('no text of a merchant moves the cursor', () => {
  const hostile = {
    ...ENTRY,
    ...{ reference: HOSTILE, scope: HOSTILE, paymentMethod: HOSTILE, currency: HOSTILE },
    payment: { id: ID, paymentStatus: HOSTILE as 'PENDING', paymentType: 'DEPOSIT', amount: 1, currency: 'EUR' },
  } as const;
  for (const printed of [doubtsTable([hostile], 'eu'), entryText(hostile)]) {
    expect(printed).toContain('a·[31m·b');
    expect(printed.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
  expect(entryText(hostile).match(/a·\[31m·b/g)).toHaveLength(5);
  expect(doubtsTable([hostile], 'eu').match(/a·\[31m·b/g)).toHaveLength(3);
});
