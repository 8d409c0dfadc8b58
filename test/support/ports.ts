// Ports for servers that must be told theirs.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Free ports of 127.0.0.1, so low that ten thousand can be added, as a Redis cluster does. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const server = createServer().listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if (port < 55_000) ports.push(port);
  }
  await Promise.all(servers.map(server => once(server.close(), 'close')));
  return ports;
}
