// Plain node:http: takes callbacks by the handler of payments.ts.
import { createServer } from 'node:http';
import { toNodeHandler } from 'payment-gateway-sdk';
import { handler } from './payments.js';

const callbacks = toNodeHandler(handler);

const server = createServer((request, response) => {
  if (request.url === '/callbacks') callbacks(request, response);
  else response.writeHead(404).end();
});
server.listen(Number(process.env.PORT ?? 3000), () => console.log('Listening on', server.address()));
