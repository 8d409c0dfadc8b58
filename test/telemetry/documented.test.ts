// The documents explain every change and warning of onEvent: the compiler compares these lists with the types.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { StoreChange, WarningCode } from '../../src/telemetry/events.ts';

const CHANGES: Record<StoreChange, true> = {
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
  unusable_redirect_url: true,
  create_not_recorded: true,
  create_mismatch: true,
  two_payments: true,
  stale_replay: true,
  sweep_gave_up: true,
  sweep_failed: true,
  payout_not_sent: true,
  upkeep_failed: true,
  upkeep_missing: true,
};

it.each([
  ['docs/observability.md', '`change`', CHANGES],
  ['docs/errors.md', "code, of the client's `onEvent`", WARNINGS],
])('%s explains each %s', (page, title, codes) => {
  const document = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  const [, rows = ''] = new RegExp(`^\\| ${title} \\| meaning \\|\n\\|.*\n((?:\\|.*\n)+)`, 'm').exec(document) ?? [];
  expect(rows.match(/(?<=^\| `)\w+/gm)?.sort()).toEqual(Object.keys(codes).sort());
});
