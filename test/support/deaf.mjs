// A server that a test stops with SIGSTOP, so that the kernel swallows what its full queue cannot take. Prints its port.
import { createServer } from 'node:net';

const [address = '127.0.0.1', port = '0'] = process.argv.slice(2);
const server = createServer(socket =>
  socket.on('error', () => {}).end('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n'),
);
server.listen({ port: Number(port), host: address, backlog: 1 }, () => console.log(server.address().port));
