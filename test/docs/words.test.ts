// Counts phrases that need a second reading, in the documents and in the words of the source.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { root } from './pages.ts';

const ODD = [
  /\b(?:who|what|which)ever\b/i,
  /\bwhat (?:is|was|are|has|it|they|the|a|no|can|may)\b(?![^.]*\?)/i,
  /\b(?:no|some|every|any)body\b/i,
  /\b(?:tell|tells|told|telling)\b/i,
  /\b(?:of|without|before|after|under|behind|from|by) (?:which|whom)\b/i,
  /\b(?:is|are|was|were) (?:no|none)\b/i,
  /\b(?:all the same|for ever|but for|beside|anew|in place of|thereby)\b/i,
  /\bof (?:its|their|your|our|my) own\b/i,
  /, and (?:not|no|none|nothing|never)\b/i,
  /\b(?:that|which|it|they) (?:is|are) there\b/i,
];

const read = (path: string): string => readFileSync(root + path, 'utf8');
const filesOf = (...patterns: string[]) => globSync(patterns, { cwd: root, exclude: path => path === 'node_modules' });

/** Returns the prose of a document, without code. */
const proseOf = (path: string) =>
  read(path)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, 'X');

/** Returns the comments of a file, and its longer texts. */
const wordsOf = (path: string) =>
  [...read(path).matchAll(/\/\*\*[\s\S]*?\*\/|\/\/ .*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g)]
    .map(([text]) => text)
    .filter(text => text.startsWith('/') || text.split(/\s+/).length > 5)
    .join('\n');

it.each([
  ['the documents', filesOf('*.md', 'docs/*.md', 'docs/{contributing,decisions}/*.md').map(proseOf), 2],
  ['the source and the examples', filesOf('src/**/*.ts', 'examples/*.ts').map(wordsOf), 3],
])('%s need no second reading: at most two or three phrases in a thousand words', (_, texts, most) => {
  const lines = texts.join('\n').split('\n');
  const found = lines.filter(line => ODD.some(phrase => phrase.test(line)));
  const words = lines.join(' ').split(/\s+/).length;
  const rate = (found.length / words) * 1000;
  expect(words).toBeGreaterThan(10_000);
  expect(rate, found.slice(0, 50).join('\n')).toBeLessThanOrEqual(most);
});
