// Which host names never leave this machine.

/** Of a URL's `hostname`. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?localhost)$/.test(hostname);
