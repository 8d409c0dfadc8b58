// A proxy as companies run them: it opens tunnels (CONNECT), and counts them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** @param refuses answers 407 to whoever wants a tunnel */
export async function forwardProxy({ refuses = false } = {}) {
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connect', (request, socket: Socket) => {
    proxy.tunnels += 1;
    if (refuses) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
    const { hostname, port } = new URL(`http://${request.url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  server.on('connection', socket => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return proxy;
}
