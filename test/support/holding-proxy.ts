// A TCP proxy whose bytes to the server can be held back, and arrive later even if the client has long gone.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export async function openHoldingProxy(port: number) {
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let holds = false;
  const server = createServer(client => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', chunk => {
      if (holds) held.push(() => upstream.write(chunk));
      else upstream.write(chunk);
    });
    upstream.on('data', chunk => client.write(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many pieces are held back. */
    count: () => held.length,
    hold: () => {
      holds = true;
    },
    /** Everything that was held back arrives now. */
    release: () => {
      holds = false;
      for (const write of held.splice(0)) write();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
