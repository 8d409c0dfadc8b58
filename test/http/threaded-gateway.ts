// A thread of its own: a gateway that goes on while the thread of a test is busy.
import { parentPort, workerData } from 'node:worker_threads';
import { type Connection, tcpGateway } from '../support/tcp.ts';

/** What the thread is given. */
export interface ThreadedGateway {
  certificate: 'server' | undefined;
  /** To every create. */
  answer: string;
  /** Written to the latest connection when it is told to go on; without it, that one is ended. */
  unasked: string | undefined;
  /** Becomes 1 when that has left. */
  isDone: Int32Array;
}

/** Is told `go` or `tell`. It tells its URL, and to `tell` how many creates and connections reached it. */
async function open({ certificate, answer, unasked, isDone }: ThreadedGateway): Promise<void> {
  let latest: Connection | undefined;
  const onRequest = (connection: Connection) => {
    latest = connection;
    connection.socket.write(answer);
  };
  const gateway = await tcpGateway({ onRequest }, certificate);
  const done = () => {
    Atomics.store(isDone, 0, 1);
    Atomics.notify(isDone, 0);
  };
  parentPort?.on('message', message => {
    if (message === 'tell') parentPort?.postMessage([gateway.creates, gateway.connections]);
    else if (unasked) latest?.socket.write(unasked, done);
    else latest?.socket.end(done);
  });
  parentPort?.postMessage(gateway.url);
}

await open(workerData);
