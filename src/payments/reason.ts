// The gateway's own words of a refusal, without what looks like customer data or a key.
import type { NoAnswer } from '../http/client.ts';
import type { HttpAnswer } from '../http/exchange.ts';

/** The names under which APIs write what is wrong. The gateway's document shows no body of an error. */
const NAMES = /^(?:error|errors|error_?message|error_?description|message|messages|detail|details|reason|title)$/i;
/** Characters: more is a page, and no reason. */
const LONGEST = 300;
/** Characters that are looked at: to look for an address takes the square of a text's length. */
const MOST = 4 * LONGEST;
/** Characters by which a value is found. */
const LONGEST_VALUE = 64;
const DEEPEST = 5;

/** What the text of an answer may repeat of its request. */
export interface Sent {
  secrets: readonly string[];
  /** All else that was sent, as plain data. */
  fields?: object | undefined;
}

/** @returns undefined if it is no refusal; empty if it has no words */
export function reasonOf(answer: HttpAnswer | NoAnswer, sent: Sent): string | undefined {
  if (!('status' in answer) || answer.status < 400 || answer.status > 499) return undefined;
  const words = wordsOf(answer.body).join('; ');
  const struck = strike(plain(unescaped(words.slice(0, MOST))), sent);
  // Where a text was cut a value may have begun, of which too little is left to find it.
  const isOpen = words.length > MOST && !struck.endsWith('***');
  const whole = isOpen ? struck.slice(0, -LONGEST_VALUE) : struck;
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
}

/** What PHP and template engines escape for HTML: a name would not be found otherwise, and nobody can read it. */
const ESCAPED = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi;
const MEANT: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const LAST_CODE_POINT = 0x10ffff;

const unescaped = (text: string): string =>
  text.replace(ESCAPED, (escaped, name?: string, decimal?: string, hex?: string) => {
    if (name) return String(MEANT[name.toLowerCase()]);
    const codePoint = decimal ? Number(decimal) : Number.parseInt(String(hex), 16);
    return codePoint <= LAST_CODE_POINT ? String.fromCodePoint(codePoint) : escaped;
  });

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();

function wordsOf(body: string): string[] {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    // A page of a proxy says nothing; neither does half of an answer.
    return /^\s*[<{["]/.test(body) ? [] : [body];
  }
  return [...new Set(textsIn(json, false, 0))];
}

/** @param isNamed whether it is under one of the names */
function textsIn(value: unknown, isNamed: boolean, depth: number): string[] {
  if (typeof value === 'string') return isNamed ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return [];
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, isNamed || NAMES.test(name), depth + 1));
}

/** What was sent of these fields is no customer's. */
const MERCHANT_FIELDS = new Set(['paymentType', 'paymentMethod', 'amount', 'currency', 'reference']);
/** Characters: shorter ones are parts of many words. */
const SHORTEST = 3;
/** Of a name. It is struck where it is a word of its own, or of a script that has none between them. */
const SHORTEST_NAME = 2;
const WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const UUID = /([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})/i;

/** An address of e-mail; six digits or more, as of a card, an account, a phone or a birthday; a key, an IBAN, a wallet. */
const PRIVATE = /[^\s"'<>@]+@[^\s"'<>@]+|\+?\d(?:[\s().\-/]{0,3}\d){5,}|\b(?=\w*\d)[\w-]{12,}/g;

function strike(words: string, { secrets, fields = {} }: Sent): string {
  const values = Object.entries(fields).flatMap(([name, value]) => {
    const shortest = name === 'customer' ? SHORTEST_NAME : SHORTEST;
    return MERCHANT_FIELDS.has(name) ? [] : leavesOf(value).filter(leaf => leaf.trim().length >= shortest);
  });
  const known = [...secrets.filter(secret => secret.length >= SHORTEST), ...values]
    .sort((one, other) => other.length - one.length)
    .reduce((text, value) => strikeValue(text, value), words);
  // The ids of payments are digits too.
  return known
    .split(UUID)
    .map((part, index) => (index % 2 ? part : part.replace(PRIVATE, '***')))
    .join('');
}

const leavesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [String(value)];

/** In whatever case it is written. What begins as a long value does is struck to its end. */
function strikeValue(text: string, sent: string): string {
  const value = plain(sent.slice(0, MOST));
  const isLong = sent.length > MOST || value.length > LONGEST_VALUE;
  const start = value.slice(0, LONGEST_VALUE).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const isWord = value.length < SHORTEST && !WITHOUT_SPACES.test(value);
  const pattern = isLong ? `${start}[^]*` : isWord ? `(?<!\\p{L})${start}(?!\\p{L})` : start;
  return text.replace(new RegExp(pattern, 'giu'), '***');
}
