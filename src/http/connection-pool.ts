// Our own connections: an agent that hands a socket over only when it is connected and secured.
import http from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Deadline, LONGEST_TIMER } from '../deadline.ts';

/** Milliseconds that a connection is kept for the next call if the server announces nothing. */
const IDLE = 4_000;
/** Milliseconds by which a connection is given up earlier than the server announces: it may be closing already. */
const IDLE_MARGIN = 1_000;

/** What the agent gets of a request. */
interface ConnectOptions extends http.ClientRequestArgs {
  /** Ends the attempt to connect: nothing has been sent by then. */
  whileConnecting?: AbortSignal;
  servername?: string;
}

/** What is known of one of our sockets. */
interface State {
  /** The TCP socket under TLS; without TLS the socket itself. */
  tcp: Socket;
  /** When it is not used again. */
  idle?: Deadline;
}

export class ConnectionPool extends http.Agent {
  readonly #isSecure: boolean;
  readonly #states = new WeakMap<Socket, State>();
  /** Lets the next TLS connection begin sooner. */
  #session: Buffer | undefined;

  constructor(isSecure: boolean, maxConnections: number, keepAlive: boolean) {
    super({ keepAlive, maxFreeSockets: maxConnections });
    // Of http.Agent, whose types do not show them: ClientRequest compares them.
    if (isSecure) Object.assign(this, { protocol: 'https:', defaultPort: 443 });
    this.#isSecure = isSecure;
  }

  override createConnection(
    { whileConnecting: signal, host, port, servername = '' }: ConnectOptions,
    connected?: (error: Error | null, socket: Socket) => void,
  ): undefined {
    const tcp = connectTcp({ host: String(host), port: Number(port), noDelay: true });
    let socket: Socket = tcp;
    let isEnded = false;
    const end = (error: Error | null) => {
      if (isEnded) return;
      isEnded = true;
      signal?.removeEventListener('abort', stop);
      tcp.off('error', end);
      socket.off('error', end);
      // After this the errors are those of the request; between two requests they are ignored.
      tcp.on('error', () => {});
      socket.on('error', () => {});
      if (error) {
        tcp.destroy();
        connected?.(error, socket);
      } else {
        this.#states.set(socket, { tcp });
        connected?.(null, socket);
      }
    };
    // Whoever waits has been told the signal's reason.
    const stop = () => end(new Error());
    signal?.addEventListener('abort', stop);
    tcp.once('error', end);
    tcp.once('connect', () => {
      if (!this.#isSecure) return end(null);
      const session = this.#session;
      socket = connectTls({
        socket: tcp,
        host: String(host),
        servername,
        ALPNProtocols: ['http/1.1'],
        ...(session && { session }),
      });
      socket.once('error', end);
      // Once OpenSSL has returned: until then the socket must not be closed.
      socket.once('secureConnect', () => setImmediate(end, null));
      socket.on('session', (session: Buffer) => {
        this.#session = session;
      });
    });
    return undefined;
  }

  /** Remembers how long the server keeps the connection. @param announced its `Keep-Alive` header */
  keepFor(socket: Socket, announced: string | undefined): void {
    const seconds = announced?.match(/\btimeout=(\d+)/i)?.[1];
    const ms = seconds === undefined ? IDLE : Number(seconds) * 1000 - IDLE_MARGIN;
    const state = this.#states.get(socket);
    // The header is another's: a timer takes no more.
    if (state) state.idle = new Deadline(Math.min(ms, LONGEST_TIMER));
  }

  /** Whether the socket may be used again. The time is compared, because a timer is late after a pause. */
  isFresh(socket: Socket): boolean {
    return !socket.destroyed && socket.writable && this.#idleMs(socket) > 0;
  }

  /** Milliseconds until the socket is not used again, by both clocks. */
  #idleMs = (socket: Socket): number => this.#states.get(socket)?.idle?.remaining ?? 0;

  /** Ends a connection by RST, so that the kernel delivers nothing of it any more. */
  reset(socket: Socket): void {
    const tcp = this.#states.get(socket)?.tcp;
    // Where Node fails to reset it keeps the socket for ever: after an end that is still on its way, and where a mock of
    // the network has opened none.
    const isResettable = tcp && 'port' in tcp.address() && !tcp.writableEnded && !socket.writableEnded;
    if (isResettable) tcp.resetAndDestroy();
    socket.destroy();
  }

  /** http.Agent asks so when a call has ended. */
  override keepSocketAlive(socket: Socket): boolean {
    const ms = this.#idleMs(socket);
    if (ms <= 0) return false;
    socket.setTimeout(ms);
    socket.unref();
    return true;
  }

  /** http.Agent says so when a call gets the socket of an earlier one. */
  override reuseSocket(socket: Socket, request: http.ClientRequest): void {
    super.reuseSocket(socket, request);
    socket.setTimeout(0);
  }
}
