// A merchant's endpoint on Bun or Deno. Prints its port.
import { handler } from './callbacks.mjs';

const options = { hostname: '127.0.0.1', port: 0 };
if (globalThis.Bun) console.log(Bun.serve({ ...options, fetch: handler }).port);
else Deno.serve({ ...options, onListen: ({ port }) => console.log(port) }, handler);
