// Plain node:http: takes callbacks, and pays each order once.
import { createServer } from 'node:http';
import { toNodeHandler } from 'payment-gateway-sdk';
import { openCallbacks } from './callbacks.js';

const callbacks = toNodeHandler(openCallbacks());

const server = createServer((request, response) => {
  if (request.url === '/callbacks') callbacks(request, response);
  else response.writeHead(404).end();
});
server.listen(Number(process.env.PORT ?? 3000), () => console.log('Listening on', server.address()));
