// A TCP proxy that can lose every byte while its connections stand: a server that is stopped, or a network that is cut.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export async function openSwallowingProxy(port: number) {
  const sockets = new Set<Socket>();
  let swallows = false;
  let lost = 0;
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on('data', chunk => {
      if (swallows) lost += chunk.length;
      else to.write(chunk);
    });
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer(client => {
    const upstream = connect(port, '127.0.0.1');
    pass(client, upstream);
    pass(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => {
      swallows = true;
    },
    /** How many bytes have been. */
    get lost() {
      return lost;
    },
    /** What was lost stays lost. */
    pass: () => {
      swallows = false;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
