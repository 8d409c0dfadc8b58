// How doubts and references are printed for people.
import { expect, it } from 'vitest';
import { doubtsTable, entryText } from '../../src/cli/print.ts';
import type { Doubt, JournalEntry } from '../../src/journal/contract.ts';
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
const ENTRY: JournalEntry = { ...DOUBT, state: 'begun' };
const HOSTILE = 'a\u001b[31m\nb';

it('that nothing is in doubt is said in words', () => {
  expect(doubtsTable([])).toBe('Nothing is in doubt.');
});

it('doubts are a table, with what to do about them', () => {
  const rows = [
    DOUBT,
    { ...DOUBT, reference: 'p', amount: '9.5', underWay: true, paymentId: ID, conflictingIds: [OTHER_ID] },
  ];
  expect(doubtsTable(rows).split('\n')).toEqual([
    '  REFERENCE  SINCE                 TYPE        METHOD  AMOUNT   STATE      SCOPE  PAYMENT',
    '  payout-77  2026-11-23T10:20:30Z  WITHDRAWAL  SEPA    120 EUR  in doubt   eu     -',
    `  p          2026-11-23T10:20:30Z  WITHDRAWAL  SEPA    9.5 EUR  under way  eu     ${ID} ${OTHER_ID}`,
    '',
    "Ask the gateway's support about those in doubt. Then:",
    '  npx payment-gateway-sdk settle <reference> <id|not_created> --scope <scope>',
  ]);
});

it('about creates that are under way nothing is to be done', () => {
  expect(doubtsTable([{ ...DOUBT, underWay: true }]).split('\n')).toHaveLength(2);
});

it('an entry tells all that the journal knows', () => {
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

it.each<[Partial<JournalEntry>, string]>([
  [{ state: 'planned' }, 'planned'],
  [{ state: 'begun', underWay: true }, 'under way'],
  [{ state: 'freed' }, 'free, without a payment'],
])('the state of %o is called %s', (changes, state) => {
  expect(entryText({ ...ENTRY, ...changes })).toContain(`\n  state      ${state}\n`);
});

it('no text of a merchant moves the cursor', () => {
  const hostile = {
    ...ENTRY,
    ...{ reference: HOSTILE, scope: HOSTILE, paymentMethod: HOSTILE, currency: HOSTILE },
    payment: { id: ID, paymentStatus: HOSTILE as 'PENDING', paymentType: 'DEPOSIT', amount: 1, currency: 'EUR' },
  } as const;
  for (const printed of [doubtsTable([hostile]), entryText(hostile)]) {
    expect(printed).toContain('a·[31m·b');
    expect(printed.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
  expect(entryText(hostile).match(/a·\[31m·b/g)).toHaveLength(5);
  expect(doubtsTable([hostile]).match(/a·\[31m·b/g)).toHaveLength(4);
});
