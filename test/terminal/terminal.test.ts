// What the command lines of the package share: tables, text that moves no cursor, and output that nobody reads.
import { describe, expect, it, vi } from 'vitest';
import { onReaderGone } from '../../src/terminal/program.ts';
import { printable, table } from '../../src/terminal/text.ts';

it('a table has aligned cells, two spaces between them, and no space at the end of a line', () => {
  const rows = [
    ['a', 'long', 'x'],
    ['wide', 'b', ''],
    ['c', '', 'no longer\nthan it is'],
  ];
  expect(table(rows)).toBe(['  a     long  x', '  wide  b', '  c           no longer·than it is'].join('\n'));
  expect(table([])).toBe('');
});

it('text of others moves no cursor, changes no colour and begins no line', () => {
  expect(printable('a\u001b[31mb\r\nc\u2028d\u2029e\u202ef\u200bg\u0085h')).toBe('a·[31mb··c·d·e·f·g·h');
  expect(printable('zażółć 私 🙂 -')).toBe('zażółć 私 🙂 -');
});

describe('where nobody reads what is printed', () => {
  /** Lets a program react to an error of its output. */
  function react(stream: NodeJS.WriteStream, code: string): unknown {
    const before = new Set([process.stdout, process.stderr].flatMap(each => each.listeners('error')));
    const gone = vi.fn();
    onReaderGone(gone);
    const added = stream.listeners('error').filter(listener => !before.has(listener));
    try {
      for (const listener of added) listener(Object.assign(new Error(code), { code }));
      return gone.mock.calls;
    } catch (error) {
      return error;
    } finally {
      for (const each of [process.stdout, process.stderr]) {
        for (const listener of each.listeners('error')) {
          if (!before.has(listener)) each.off('error', listener as () => void);
        }
      }
    }
  }

  it.each([process.stdout, process.stderr])('a program decides what becomes of it: %#', stream => {
    expect(react(stream, 'EPIPE')).toEqual([[]]);
    expect(react(stream, 'ENOSPC')).toMatchObject({ code: 'ENOSPC' });
  });
});
