// Links of the built site that lead nowhere: to a page that is not there, or to an anchor that its page does not have.
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

const decode = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");

/**
 * @param dist the folder of the site
 * @param base what its addresses begin with
 */
export function deadLinks(dist: string, base = '/'): string[] {
  const files = globSync('**/*.html', { cwd: dist }).map(path => path.replaceAll('\\', '/'));
  const others = new Set(globSync('**/*.*', { cwd: dist }).map(path => path.replaceAll('\\', '/')));
  const html = new Map(files.map(file => [file, readFileSync(posix.join(dist, file), 'utf8')]));
  const anchors = new Map(
    [...html].map(([file, text]) => [
      file,
      new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => decode(id))),
    ]),
  );
  /** The pages that have each of them. */
  const dead = new Map<string, string[]>();
  for (const [file, text] of html) {
    for (const [, raw = ''] of text.matchAll(/<a\b[^>]*? href="([^"]*)"/g)) {
      const href = decode(raw);
      if (/^[a-z]+:|^\/\//i.test(href)) continue;
      const { pathname, hash } = new URL(href, `http://site${posix.join(base, file)}`);
      const path = decodeURIComponent(pathname);
      const within = path.startsWith(base) ? path.slice(base.length) : undefined;
      const page = within === '' || within?.endsWith('/') ? `${within}index.html` : within;
      const isThere = page !== undefined && others.has(page);
      const anchor = decodeURIComponent(hash.slice(1));
      const isDead = !isThere || (anchor && anchors.get(page)?.has(anchor) === false);
      if (isDead && !dead.get(href)?.includes(file)) dead.set(href, [...(dead.get(href) ?? []), file]);
    }
  }
  return [...dead].map(
    ([href, [first, ...more]]) => `${href} on ${first}${more.length > 0 ? ` and ${more.length} more` : ''}`,
  );
}
