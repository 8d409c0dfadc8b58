// Fastify 5: takes callbacks, and pays each order once.
import Fastify from 'fastify';
import { toNodeHandler } from 'payment-gateway-sdk';
import { openCallbacks } from './callbacks.js';

const app = Fastify();
app.register(async callbacks => {
  // The bytes as they came, for this route alone: `verify` would need them.
  callbacks.removeAllContentTypeParsers();
  callbacks.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  callbacks.post('/callbacks', toNodeHandler(openCallbacks()));
});

await app.listen({ port: Number(process.env.PORT ?? 3000) });
console.log('Listening on', app.server.address());
