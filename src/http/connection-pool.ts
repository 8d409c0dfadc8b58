// The SDK's own connections: an agent that hands over a socket only once it is connected and secured.
import { once } from 'node:events';
import http from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { Deadline } from '../deadline.ts';

/** Milliseconds for an idle connection if the server announces none. */
const IDLE = 4_000;
/** Milliseconds before the announced time in which it may be closing already. */
const IDLE_MARGIN = 1_000;

interface ConnectOptions extends http.ClientRequestArgs {
  whileConnecting?: AbortSignal;
  servername?: string;
}

export class ConnectionPool extends http.Agent {
  /** The TCP socket under TLS, or else the socket itself. */
  readonly #tcpOf = new WeakMap<Socket, Socket>();
  readonly #idleUntil = new WeakMap<Socket, Deadline>();
  /** Speeds up the next TLS connection. */
  #session: Buffer | undefined;

  constructor(isSecure: boolean, maxConnections: number, keepAlive: boolean) {
    super({ keepAlive, maxFreeSockets: maxConnections });
    // ClientRequest compares these properties, which the types omit.
    if (isSecure) Object.assign(this, { protocol: 'https:', defaultPort: 443 });
  }

  override createConnection(options: ConnectOptions, done?: (error: Error | null, socket: Socket) => void): undefined {
    this.#connect(options).then(
      socket => done?.(null, socket),
      error => done?.(error, undefined as never),
    );
  }

  async #connect(options: ConnectOptions) {
    const { protocol, host, port, whileConnecting: signal } = options;
    const tcp = connectTcp({ host: String(host), port: Number(port), noDelay: true });
    // A request handles its errors. Others are ignored.
    tcp.on('error', () => {});
    try {
      await once(tcp, 'connect', { signal });
      const socket = protocol === 'http:' ? tcp : await this.#secure(tcp, options);
      this.#tcpOf.set(socket, tcp);
      return socket;
    } catch (error) {
      tcp.destroy();
      throw error;
    }
  }

  async #secure(tcp: Socket, { whileConnecting: signal, host, servername = '' }: ConnectOptions) {
    const options = { host: String(host), servername, ALPNProtocols: ['http/1.1'], session: this.#session };
    const socket = connectTls({ socket: tcp, ...options });
    socket.on('session', session => {
      this.#session = session;
    });
    socket.on('error', () => {});
    tcp.on('error', error => socket.destroy(error));
    await once(socket, 'secureConnect', { signal });
    // The socket must not be closed until OpenSSL has returned.
    await setImmediate(undefined, { signal });
    return socket;
  }

  /** @param announced the server's `Keep-Alive` header */
  keepFor(socket: Socket, announced: string | undefined) {
    const seconds = announced?.match(/\btimeout=(\d{1,6})/i)?.[1];
    const ms = seconds === undefined ? IDLE : Number(seconds) * 1000 - IDLE_MARGIN;
    this.#idleUntil.set(socket, new Deadline(ms));
  }

  /** By the clock, because a timer is late after a pause. */
  isFresh(socket: Socket) {
    return !socket.destroyed && socket.writable && Boolean(this.#idleUntil.get(socket)?.remaining);
  }

  /** Ends a connection by RST, so that the kernel delivers nothing more. */
  reset(socket: Socket) {
    const tcp = this.#tcpOf.get(socket);
    // Node keeps a socket permanently if its reset fails: while an end is pending, or on a mock without a connection.
    if (tcp && 'port' in tcp.address() && !tcp.writableEnded && !socket.writableEnded) tcp.resetAndDestroy();
    socket.destroy();
  }

  override keepSocketAlive(socket: Socket) {
    const ms = this.#idleUntil.get(socket)?.remaining;
    if (!ms) return false;
    socket.setTimeout(ms);
    socket.unref();
    return true;
  }

  override reuseSocket(socket: Socket, request: http.ClientRequest) {
    super.reuseSocket(socket, request);
    socket.setTimeout(0);
  }
}
