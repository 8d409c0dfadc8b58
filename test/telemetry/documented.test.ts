// The document explains every change of onEvent: the compiler compares this list with the type.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { StoreChange } from '../../src/telemetry/events.ts';

const CHANGES: Record<StoreChange, true> = {
  begun: true,
  created: true,
  in_doubt: true,
  settled: true,
  freed: true,
  planned: true,
};

it('docs/observability.md explains each change', () => {
  const document = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
  const [, rows = ''] = /^\| `change` \| meaning \|\n\|.*\n((?:\|.*\n)+)/m.exec(document) ?? [];
  expect(rows.match(/(?<=^\| `)\w+/gm)?.sort()).toEqual(Object.keys(CHANGES).sort());
});
