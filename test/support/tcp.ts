// A raw server, with or without TLS, that speaks as much HTTP as its script says, and counts what reached it whole.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { certificate } from './tls.ts';

/** One connection, as the server has it. */
export interface Connection {
  /** Writes and reads, through TLS if there is any. */
  socket: Socket;
  /** Ends it in order: what was written arrives. */
  fin(): void;
  /** Ends it by a reset: what has not been read is lost. */
  rst(): void;
}

/** What to do with a connection, and with a request on it. */
export interface Script {
  /** Before TLS, if there is any. */
  onConnect?: (connection: Connection) => void;
  /** Once TLS stands. */
  onSecure?: (connection: Connection) => void;
  /** At the first bytes of a request. @param count of the requests so far that arrived whole */
  onBegin?: (connection: Connection, count: number) => void;
  /** At a request that has arrived whole, body included. @param count with this one */
  onRequest?: (connection: Connection, count: number) => void;
}

export type TcpGateway = Awaited<ReturnType<typeof tcpGateway>>;

/** @param tls the name of the certificate to show; none without TLS */
export async function tcpGateway(script: Script, tls?: 'server' | 'elsewhere') {
  const sockets = new Set<Socket>();
  const server = createServer(tcp => {
    gateway.connections += 1;
    sockets.add(tcp);
    let end = 'fin';
    tcp.on('error', (error: NodeJS.ErrnoException) => {
      end = error.code === 'ECONNRESET' ? 'rst' : String(error.code);
    });
    tcp.on('close', () => {
      sockets.delete(tcp);
      gateway.ends.push(end);
    });
    const fin = () => void socket.end();
    // Not after an end that is still on its way: Node would keep such a socket for ever.
    const rst = () => void (socket.writableEnded ? tcp.destroy() : tcp.resetAndDestroy());
    let socket: Socket = tcp;
    script.onConnect?.({ socket, fin, rst });
    if (tcp.destroyed) return;
    if (tls) {
      socket = new TLSSocket(tcp, { isServer: true, secureContext: createSecureContext(certificate(tls)) });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNRESET') end = 'rst';
      });
      socket.once('secure', () => script.onSecure?.({ socket, fin, rst }));
    }
    const connection = { socket, fin, rst };
    let head = '';
    /** Bytes of the body that have not arrived, once the headers have. */
    let missing: number | undefined;
    socket.on('data', chunk => {
      if (head === '') script.onBegin?.(connection, gateway.creates + gateway.lookups);
      if (missing === undefined) {
        head += chunk.toString('latin1');
        const headers = head.indexOf('\r\n\r\n');
        if (headers < 0) return;
        missing = headers + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - head.length;
      } else {
        missing -= chunk.length;
      }
      if (missing > 0) return;
      if (head.startsWith('POST')) gateway.creates += 1;
      else gateway.lookups += 1;
      head = '';
      missing = undefined;
      script.onRequest?.(connection, gateway.creates + gateway.lookups);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gateway = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Requests that arrived whole. */
    creates: 0,
    lookups: 0,
    connections: 0,
    /** How each connection ended that has ended: `fin`, `rst`, or the code of another error. */
    ends: [] as string[],
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return gateway;
}

/** A whole HTTP answer. */
export const http = (body: string, head = 'HTTP/1.1 201 Created'): string =>
  `${head}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
