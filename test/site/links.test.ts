// What the documentation's site makes of the links that its pages have on GitHub.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deadLinks } from '../../docs/site/check.ts';
import { repository, resolveLink } from '../../docs/site/pages.ts';

describe('a link', () => {
  it.each([
    ['docs/callbacks.md', 'orders.md', '/orders.md'],
    ['docs/callbacks.md', '../README.md#install', '/overview.md#install'],
    ['docs/callbacks.md', '../examples/express.ts', '/examples/express.ts.md'],
    ['docs/callbacks.md', '../examples/testing', '/examples/testing/index.md'],
    ['README.md', 'docs/orders.md', '/orders.md'],
    ['README.md', 'docs/openapi/gateway.json', '/openapi.json'],
    ['README.md', 'CHANGELOG.md', '/changelog.md'],
    ['docs/callbacks.md', '../src/client.ts', `${repository}/blob/main/src/client.ts`],
    ['README.md', 'bench', `${repository}/tree/main/bench`],
    ['README.md', 'https://zod.dev', 'https://zod.dev'],
    ['docs/callbacks.md', '#tokens', '#tokens'],
  ])('in %s to %s leads to %s', (source, href, page) => {
    expect(resolveLink(source, href)).toBe(page);
  });

  it('to a file that is not there stays as it is, and is told as dead', () => {
    expect(resolveLink('docs/callbacks.md', '../src/nowhere.ts')).toBe('../src/nowhere.ts');
  });
});

describe('the check of the built site', () => {
  /** A site of these pages. */
  function site(pages: Record<string, string>): string {
    const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-site-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const [path, html] of Object.entries(pages)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), html);
    }
    return folder;
  }

  it('names links to pages and anchors that are not there, and no others', () => {
    const folder = site({
      'index.html':
        '<a href="/orms/knex.html#a-test">1</a><a href="./gone.html">2</a><a href="https://elsewhere.example">3</a>',
      'orms/knex.html':
        '<h2 id="a-test">A test</h2><a href="../index.html">4</a><a class="x" href="#a-tset">5</a><a href="/">6</a>',
    });
    expect(deadLinks(folder)).toEqual(['./gone.html on index.html', '#a-tset on orms/knex.html']);
  });

  it('knows the folder that the site is built for', () => {
    const folder = site({
      'index.html': '<a href="/sdk/">1</a><a href="/sdk/openapi.json">2</a><a href="/">3</a>',
      'openapi.json': '{}',
    });
    expect(deadLinks(folder, '/sdk/')).toEqual(['/ on index.html']);
  });
});
