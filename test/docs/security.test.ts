// The threats of docs/security.md: each names a test, and that test is there.
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rowsOf, sectionOf, textOf } from './pages.ts';

const THREATS = rowsOf(sectionOf('docs/security.md', 'Threats')).slice(1);

describe('docs/security.md', () => {
  it('has threats, each with the work of both sides', () => {
    expect(THREATS.length).toBeGreaterThan(15);
    for (const cells of THREATS) expect(cells.map(cell => cell !== '')).toEqual([true, true, true, true]);
  });

  it.each(THREATS.map(([threat, , , test]) => [threat, test] as const))('%s', (_threat, test = '') => {
    const [, title = '', link = ''] = /^`([^`]+)` in \[[\w-]+\]\(([^)]+)\)$/.exec(test) ?? [];
    expect(title, test).not.toBe('');
    const code = textOf(posix.join('docs', link));
    const quoted = [`'${title}'`, `"${title}"`, `\`${title}\``];
    expect(
      quoted.some(text => code.includes(text)),
      `"${title}" in ${link}`,
    ).toBe(true);
  });
});
