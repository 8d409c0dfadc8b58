// Lays text out in columns.

/** Lines whose cells stand below each other, each line indented. The last cell of a line is as long as it is. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  const line = (row: readonly string[]) =>
    row.map((cell, index) => (index < row.length - 1 ? cell.padEnd(widths[index] ?? 0) : cell)).join('  ');
  return rows.map(row => `  ${line(row)}`.trimEnd()).join('\n');
}
