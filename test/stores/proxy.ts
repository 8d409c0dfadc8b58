// A TCP proxy that can hold bytes back, lose them while its connections stand, or go away and come back.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export async function openProxy(port: number) {
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let mode: 'passes' | 'holds' | 'swallows' | 'is down' = 'passes';
  let lost = 0;
  const carry = (from: Socket, to: Socket, isToServer: boolean) => {
    sockets.add(from);
    from.on('data', chunk => {
      if (mode === 'holds' && isToServer) held.push(() => to.write(chunk));
      else if (mode === 'swallows') lost += chunk.length;
      else to.write(chunk);
    });
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      // A request that is held back arrives even if its client has gone.
      if (mode !== 'holds' && held.length === 0) to.destroy();
    });
  };
  const server = createServer(client => {
    if (mode === 'is down') return void client.resetAndDestroy();
    const upstream = connect(port, '127.0.0.1');
    carry(client, upstream, true);
    carry(upstream, client, false);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const set = (next: typeof mode) => () => {
    mode = next;
    if (mode === 'is down') for (const socket of sockets) socket.destroy();
  };
  const { port: own } = server.address() as AddressInfo;
  return {
    port: own,
    url: `http://127.0.0.1:${own}`,
    /** How many pieces are held back. */
    count: () => held.length,
    /** How many bytes were lost. */
    lost: () => lost,
    hold: set('holds'),
    swallow: set('swallows'),
    down: set('is down'),
    /** Bytes pass again. Those that were held back arrive now. */
    pass: () => {
      for (const write of held.splice(0)) write();
      set('passes')();
    },
    close: () => {
      set('is down')();
      server.close();
    },
  };
}
