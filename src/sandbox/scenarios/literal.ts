// Writes a value as the source text of a program.

/** Short ones on one line. */
export function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map(part => literal(part, inner))
    : Object.entries(value)
        .filter(([, part]) => part !== undefined)
        .map(([name, part]) => `${keyOf(name)}: ${literal(part, inner)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const line = isList ? `[${parts.join(', ')}]` : parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
  if (line.length + indent.length <= 100 && !line.includes('\n')) return line;
  return `${open}\n${parts.map(part => `${inner}${part},\n`).join('')}${indent}${close}`;
}

/** `__proto__` alone would be no field. */
function keyOf(name: string): string {
  if (name === '__proto__') return "['__proto__']";
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name);
}

/** As JSON, in single quotes; no letter that looks like the end of a line or moves a cursor. */
const quoted = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, letter => `\\u{${letter.codePointAt(0)?.toString(16)}}`)}'`;
