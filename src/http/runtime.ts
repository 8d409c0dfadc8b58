// What is known of the runtimes: on which our own connections hold what they promise, and how.

/** How this runtime sends a create. */
export interface Runtime {
  name: string;
  /** Each create gets a connection of its own, because a POST is repeated whose reused connection breaks. */
  isCreateAlone: boolean;
  /** Why our own connections cannot be used here, and what to do. */
  problem?: string;
}

const PASS_FETCH = 'or pass a fetch of your own, knowing that it may send a create twice';

/** Seen in test/runtimes: how often each runtime sends creates whose connection breaks. */
export function runtime(): Runtime {
  const { Bun, Deno, navigator } = globalThis as {
    Bun?: { version: string };
    Deno?: { version?: { deno?: string } };
    navigator?: { userAgent?: string };
  };
  if (navigator?.userAgent === 'Cloudflare-Workers') {
    const problem = 'Cloudflare Workers have no connections of this kind: pass fetch: (url, init) => fetch(url, init)';
    return { name: 'Cloudflare Workers', isCreateAlone: false, problem };
  }
  if (Deno) return { name: `deno/${Deno.version?.deno}`, isCreateAlone: true };
  if (!Bun) return { name: `node/${process.versions.node}`, isCreateAlone: false };
  const name = `bun/${Bun.version}`;
  const [major = 0, minor = 0, patch = 0] = Bun.version.split('.').map(part => Number.parseInt(part, 10));
  const version = major * 1e6 + minor * 1e3 + patch;
  if (version >= 1_003_014) return { name, isCreateAlone: false };
  if (version >= 1_003_000) return { name, isCreateAlone: true };
  const problem = `${name} may send a create twice when a connection breaks: use Bun 1.3 or later, ${PASS_FETCH}`;
  return { name, isCreateAlone: false, problem };
}
