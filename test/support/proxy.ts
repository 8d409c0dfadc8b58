// A TCP proxy that can go away and come back: an outage on demand.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export async function openProxy(port: number) {
  const sockets = new Set<Socket>();
  let up = true;
  const server = createServer(client => {
    if (!up) return void client.resetAndDestroy();
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const setUp = (is: boolean) => {
    up = is;
    if (!up) for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    down: () => setUp(false),
    up: () => setUp(true),
    close: () => {
      setUp(false);
      server.close();
    },
  };
}
