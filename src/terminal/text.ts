// Text for a terminal that a merchant's data cannot break.

/** Replaces characters that would move the cursor, change colours or begin a line. */
export const printable = (text: string) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '·');

/** Rows with aligned cells, indented by two spaces. */
export function table(rows: readonly (readonly string[])[]) {
  const cells = rows.map(row => row.map(printable));
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map(row => row[column]?.length ?? 0))) ?? [];
  const lineOf = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return cells.map(row => `  ${lineOf(row)}`.trimEnd()).join('\n');
}
