// Fastify 5, in an ESM app: takes callbacks with the handler of payments.ts. npm install fastify
import Fastify from 'fastify';
import { toNodeHandler } from 'payment-gateway-sdk';
import { handler } from './payments.js';

const app = Fastify();
app.register(async callbacks => {
  // This route gets the raw bytes, because `verify` would need them.
  callbacks.removeAllContentTypeParsers();
  callbacks.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  callbacks.post('/callbacks', toNodeHandler(handler));
});

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '::' }); // without a host: this machine only
console.log('Listening on', app.server.address());
