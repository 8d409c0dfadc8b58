// Plain node:http: takes callbacks with the handler of payments.ts.
import { createServer } from 'node:http';
import { toNodeHandler } from 'payment-gateway-sdk';
import { handler } from './payments.js';

const callbacks = toNodeHandler(handler);

const server = createServer((request, response) => {
  // Ignores the query, because signCallbackUrls puts its token there.
  const [path] = (request.url ?? '').split('?');
  if (path === '/callbacks') callbacks(request, response);
  else response.writeHead(404).end();
});
server.listen(Number(process.env.PORT ?? 3000), () => console.log('Listening on', server.address()));
