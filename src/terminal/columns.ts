// Lays text out in columns, and breaks long lines.

/** Columns of the narrowest terminal. */
export const WIDTH = 80;

/**
 * Lines whose cells stand below each other, each line indented. The last cell of a line is as long as it is, or is broken
 * into further lines where a width is given.
 */
export function columns(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  const line = (row: readonly string[]): string => {
    const before = row
      .slice(0, -1)
      .map((cell, index) => `${cell.padEnd(widths[index] ?? 0)}  `)
      .join('');
    const last = broken(row.at(-1) ?? '', width - before.length - 2);
    return last
      .map((part, index) => `  ${index === 0 ? before : ' '.repeat(before.length)}${part}`.trimEnd())
      .join('\n');
  };
  return rows.map(line).join('\n');
}

/** A paragraph. */
export const wrap = (text: string): string => broken(text, WIDTH).join('\n');

/** Between words. A word that is too long is not broken. */
function broken(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
