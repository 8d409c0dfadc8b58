// A raw TCP server that speaks as much HTTP as its script says, and counts the creates that reached it whole.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface TcpGateway {
  url: string;
  /** Requests that arrived whole, body included. */
  creates: number;
  lookups: number;
  close(): Promise<void>;
}

/** What to do with a connection, and with a request that has arrived whole. */
export interface Script {
  onConnect?: (socket: Socket) => void;
  onHalfRequest?: (socket: Socket) => void;
  onRequest?: (socket: Socket, count: number) => void;
}

export async function tcpGateway({ onConnect, onHalfRequest, onRequest }: Script): Promise<TcpGateway> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnect?.(socket);
    let received = '';
    socket.on('data', chunk => {
      received += chunk.toString('latin1');
      onHalfRequest?.(socket);
      const end = received.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (end < 0 || received.length < end + 4 + length) return;
      const isCreate = received.startsWith('POST');
      received = '';
      if (isCreate) gateway.creates += 1;
      else gateway.lookups += 1;
      onRequest?.(socket, gateway.creates + gateway.lookups);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    creates: 0,
    lookups: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return gateway;
}

/** A whole HTTP answer. */
export const http = (body: string, head = 'HTTP/1.1 201 Created'): string =>
  `${head}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
