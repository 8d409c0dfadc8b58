// Knows where the SDK's own connections are safe to use.

/**
 * `repeatsPosts`: repeats a POST whose reused connection breaks, so each call gets a new one. `problem`: the reason
 * against own connections, and the remedy. test/package/runtimes.test.ts counts the creates of each.
 */
export function runtime() {
  const { Bun, Deno } = globalThis as { Bun?: { version: string }; Deno?: { version?: { deno?: string } } };
  if (globalThis.navigator?.userAgent === 'Cloudflare-Workers') {
    const problem = 'Cloudflare Workers cannot open these connections: pass fetch: (url, init) => fetch(url, init)';
    return { name: 'Cloudflare Workers', problem };
  }
  if (Deno) return { name: `deno/${Deno.version?.deno}`, repeatsPosts: true };
  if (!Bun) return { name: `node/${process.versions.node}` };
  const name = `bun/${Bun.version}`;
  const [major = 0, minor = 0] = Bun.version.split('.').map(Number);
  if (major > 1 || (major === 1 && minor >= 4)) return { name };
  const problem = `${name} may send a create twice when a connection breaks: use Bun 1.4 or later, or pass your own fetch, if you accept that it may send a create twice`;
  return { name, problem };
}
