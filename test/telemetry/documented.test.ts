// What onEvent tells is in the documents, all of it: the compiler holds these lists to the types, the tests the tables to them.
import { readFileSync } from 'node:fs';
import type { JournalChange, WarningCode } from 'payment-gateway-sdk';
import { expect, it } from 'vitest';

const CHANGES: Record<JournalChange, true> = {
  begun: true,
  created: true,
  replayed: true,
  in_doubt: true,
  settled: true,
  freed: true,
  planned: true,
  conflict: true,
  gave_up: true,
};

const WARNINGS: Record<WarningCode, true> = {
  create_mismatch: true,
  unusable_redirect_url: true,
  journal_not_recorded: true,
  journal_mismatch: true,
  journal_two_payments: true,
  journal_stale_replay: true,
  sweep_gave_up: true,
  sweep_failed: true,
  plan_refused: true,
  plan_not_sent: true,
  drain_failed: true,
};

const document = readFileSync(new URL('../../docs/doubts.md', import.meta.url), 'utf8');

it.each([
  ['change', CHANGES],
  ['warning', WARNINGS],
])('docs/doubts.md explains each %s', (title, codes) => {
  const [, rows = ''] = new RegExp(`^\\| ${title} \\| when \\|\n\\|.*\n((?:\\|.*\n)+)`, 'm').exec(document) ?? [];
  const explained = rows.match(/(?<=^\| `)\w+/gm);
  expect(explained?.sort()).toEqual(Object.keys(codes).sort());
});
