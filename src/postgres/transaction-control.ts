// Finds statements that begin or end a transaction, in a text of SQL.

/** What most texts have none of, so that they need no closer look. */
const SUSPECT = /\b(?:begin|start|commit|end|rollback|abort|prepare)\b/i;

/** A name or a keyword; a dollar in it begins no quote. */
const WORD = /[\p{L}_][\p{L}\p{N}_$]*/uy;
const LINE_COMMENT = /--[^\n\r]*/y;
const DOLLAR_QUOTE = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;

/** Whether one of the statements begins or ends a transaction; those about savepoints do not. */
export function controlsTransaction(sql: string): boolean {
  if (!SUSPECT.test(sql)) return false;
  for (const words of statementsOf(sql)) if (isControl(words)) return true;
  return false;
}

function isControl([first, second, third]: readonly string[]): boolean {
  switch (first) {
    case 'begin':
    case 'commit':
    case 'end':
    case 'abort':
      return true;
    case 'start':
    case 'prepare':
      return second === 'transaction';
    case 'rollback':
      return (second === 'work' || second === 'transaction' ? third : second) !== 'to';
    default:
      return false;
  }
}

/** The words of each statement, in lower case: neither comments nor what is quoted. */
function* statementsOf(sql: string): Generator<string[]> {
  let words: string[] = [];
  /** How deep within `BEGIN ATOMIC … END` of a function, whose semicolons end no statement. */
  let depth = 0;
  for (let at = 0; at < sql.length; ) {
    const word = match(WORD, sql, at);
    if (word) {
      const lower = word.toLowerCase();
      if (lower === 'atomic' && words.at(-1) === 'begin' && words[0] === 'create') depth = 1;
      else if (depth > 0 && lower === 'case') depth += 1;
      else if (depth > 0 && lower === 'end') depth -= 1;
      words.push(lower);
      at += word.length;
      // E'…' takes backslashes for what they escape.
      if (lower === 'e' && sql[at] === "'") at = endOfText(sql, at, true);
    } else if (sql[at] === ';' && depth === 0) {
      yield words;
      words = [];
      at += 1;
    } else at = endOfOpaque(sql, at);
  }
  yield words;
}

/** The end of a comment, of something quoted, or of one other character. */
function endOfOpaque(sql: string, at: number): number {
  const two = sql.slice(at, at + 2);
  if (two === '--') return at + (match(LINE_COMMENT, sql, at) as string).length;
  if (two === '/*') return endOfComment(sql, at);
  if (sql[at] === "'" || sql[at] === '"') return endOfText(sql, at, false);
  const quote = match(DOLLAR_QUOTE, sql, at);
  if (!quote) return at + 1;
  const end = sql.indexOf(quote, at + quote.length);
  return end < 0 ? sql.length : end + quote.length;
}

/** Comments nest. */
function endOfComment(sql: string, begin: number): number {
  let depth = 0;
  for (let at = begin; at < sql.length; ) {
    const two = sql.slice(at, at + 2);
    if (two === '/*') depth += 1;
    if (two === '*/') depth -= 1;
    at += two === '/*' || two === '*/' ? 2 : 1;
    if (depth === 0) return at;
  }
  return sql.length;
}

/** A quote that is written twice does not end it. */
function endOfText(sql: string, begin: number, hasEscapes: boolean): number {
  const quote = sql.charAt(begin);
  for (let at = begin + 1; at < sql.length; at++) {
    if (hasEscapes && sql[at] === '\\') at += 1;
    else if (sql[at] === quote && sql[at + 1] === quote) at += 1;
    else if (sql[at] === quote) return at + 1;
  }
  return sql.length;
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
