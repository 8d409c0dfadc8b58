// Writes what VitePress reads: each document as it is, each example as a page, and what can be downloaded.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { DOWNLOADS, describeExample, examples, FIRST_COMMENT, folders, generated, pages, root } from './pages.ts';

const LANGUAGES: Record<string, string> = { '.mjs': 'js', '.cjs': 'js' };

function write(page: string, text: string): void {
  mkdirSync(dirname(generated + page), { recursive: true });
  writeFileSync(generated + page, text);
}

/** @param home the Markdown of the first page */
export function stagePages(home: string): void {
  rmSync(generated, { recursive: true, force: true });
  write('index.md', home);
  for (const [source, page] of pages) {
    const text = readFileSync(root + source, 'utf8');
    write(page, source.endsWith('.md') ? text : exampleOf(source, text));
  }
  for (const [folder, page] of folders) {
    const readme = `${folder}/README.md`;
    const title = folder === 'examples' ? 'Examples' : folder;
    write(
      page,
      `${pages.has(readme) ? `${readFileSync(root + readme, 'utf8')}\n## Files` : `# ${title}`}\n\n${listOf(folder)}\n`,
    );
  }
  for (const [source, name] of Object.entries(DOWNLOADS)) {
    mkdirSync(`${generated}public`, { recursive: true });
    copyFileSync(root + source, `${generated}public/${name}`);
  }
}

const exampleOf = (source: string, text: string): string => `---
aside: false
---

# ${posix.basename(source)}

${describeExample(source)}

\`\`\`\`${LANGUAGES[posix.extname(source)] ?? posix.extname(source).slice(1)} [${source}]
${text.replace(FIRST_COMMENT, '').trim()}
\`\`\`\`
`;

function listOf(folder: string): string {
  const own = examples.filter(source => posix.dirname(source) === folder);
  const within = [...folders].filter(([other]) => posix.dirname(other) === folder);
  const lines = [
    ...own.map(source => {
      const name = posix.basename(source);
      const description = describeExample(source);
      return `- [${name}](./${name}.md)${description && `: ${description}`}`;
    }),
    ...within.map(([other]) => `- [${posix.basename(other)}](./${posix.basename(other)}/index.md)`),
  ];
  return lines.join('\n');
}
