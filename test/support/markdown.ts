// What scripts and tests write into documents.

/** A table in Markdown. */
export const tableOf = (names: readonly string[], rows: readonly (readonly string[])[]): string =>
  [names, names.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n');
