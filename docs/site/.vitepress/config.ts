import { posix } from 'node:path';
import { defineConfig, type MarkdownRenderer } from 'vitepress';
import { manifest, repository, resolveLink, slugify, sourceOf } from '../pages.ts';
import { sidebar } from '../sidebar.ts';

/** Links of a document lead to where they lead in the repository. */
function followLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const source = sourceOf(env.relativePath);
    if (!source?.endsWith('.md')) return;
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        if (token.type === 'link_open') token.attrSet('href', resolveLink(source, token.attrGet('href') ?? ''));
        if (token.type === 'image') {
          const file = posix.join(posix.dirname(source), token.attrGet('src') ?? '');
          token.attrSet(
            'src',
            posix.join('../../..', posix.relative(posix.dirname(`/${env.relativePath}`), '/'), file),
          );
        }
      }
    }
  });
}

/** What scrolls by itself can be reached by the keyboard. */
function focusTables(md: MarkdownRenderer): void {
  md.core.ruler.push('focus-tables', ({ tokens }) => {
    for (const token of tokens) if (token.type === 'table_open') token.attrSet('tabindex', '0');
  });
}

/** Vue would read `{{` in a text as an expression. */
function escapeMustaches(md: MarkdownRenderer): void {
  const text = md.renderer.rules.text;
  md.renderer.rules.text = (...args) =>
    (text ? text(...args) : md.utils.escapeHtml(args[0][args[1]]?.content ?? '')).replaceAll('{{', '&#123;&#123;');
}

/** Headings that each page of the API has: what is found below them is found by the name above. */
const USUAL =
  /<h(\d)[^>]*>(Parameters|Returns|Throws|Examples?|Type Parameters|Properties|Constructors?|Extends|Methods)\b.*?<\/h\1>/g;

function renderForSearch(
  source: string,
  env: { relativePath: string },
  md: { render: MarkdownRenderer['render'] },
): string {
  const html = md.render(source, env);
  return env.relativePath.startsWith('api/') ? html.replace(USUAL, '<p>$2</p>') : html;
}

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b6057"/>' +
  '<path d="M4 8.5l2.7 2.7L12 5.5" fill="none" stroke="#fff" stroke-width="2"/></svg>';

export default defineConfig({
  title: 'Payment gateway SDK',
  titleTemplate: ':title · payment-gateway-sdk',
  description: manifest.description,
  lang: 'en',
  base: process.env.DOCS_BASE ?? '/',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  srcDir: 'generated',
  outDir: 'dist',
  cacheDir: 'generated/.cache',
  // The search index is larger, and is loaded by whoever searches.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  transformPageData: ({ relativePath, frontmatter }) => {
    // Its sidebar names some of its pages, and no order in which to read them.
    if (relativePath.startsWith('api/')) Object.assign(frontmatter, { prev: false, next: false });
  },
  // check.ts tells all of them at once, those to anchors too.
  ignoreDeadLinks: true,
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    config: md => {
      followLinks(md);
      focusTables(md);
      escapeMustaches(md);
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: { _render: renderForSearch, miniSearch: { searchOptions: { boost: { title: 6, text: 1, titles: 2 } } } },
    },
    nav: [
      { text: 'Guides', link: '/getting-started', activeMatch: '^/(?!api/|examples/|changelog|$)' },
      { text: 'API', link: `/api/${manifest.name}/`, activeMatch: '^/api/' },
      { text: 'Examples', link: '/examples/', activeMatch: '^/examples/' },
      { text: 'Changelog', link: '/changelog', activeMatch: '^/changelog' },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    socialLinks: [{ icon: 'github', link: repository }],
  },
});
