// The shop: `npm start` opens its database and its gateway, serves its pages, and runs its upkeep until it is stopped.
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { csrf } from 'hono/csrf';
import { secureHeaders } from 'hono/secure-headers';
import { openCheckout } from './checkout.ts';
import { openDatabase } from './database.ts';
import { openGateway } from './gateway.ts';
import { openOperator } from './operator.ts';
import { problemPage } from './pages.ts';
import { openPayments } from './payments.ts';

const {
  DATABASE_URL = 'postgres://postgres@127.0.0.1:5432/test',
  DATABASE_SCHEMA = 'shop',
  HOST = '127.0.0.1',
  PORT = '3000',
  SHOP_URL = `http://127.0.0.1:${PORT}`,
  OPERATOR_PASSWORD = 'operator',
  PAYMENT_GATEWAY_URL,
  NODE_ENV,
} = process.env;

if (NODE_ENV === 'production') {
  if (OPERATOR_PASSWORD === 'operator') fail('Set OPERATOR_PASSWORD: the operator decides about money.');
  if (!PAYMENT_GATEWAY_URL)
    fail('Set PAYMENT_GATEWAY_URL, …_API_KEY and …_SIGN_KEY: without them the gateway is a sandbox.');
}

const db = await openDatabase(DATABASE_URL, DATABASE_SCHEMA).catch((error: Error) => fail(error.message));
const { scope, clientOptions, dashboard, close } = await openGateway();
const payments = await openPayments(db, scope, { ...clientOptions, webhookUrl: `${SHOP_URL}/callbacks` });
const { gateway, handler } = payments;

const app = new Hono();
// Callbacks come from the gateway instead of our forms: the handler checks them itself, and limits their size.
app.post('/callbacks', ({ req }) => handler(req.raw));

for (const [file, type] of [
  ['shop.css', 'text/css'],
  ['live.js', 'text/javascript'],
] as const) {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  app.get(`/${file}`, c => c.body(text, 200, { 'content-type': `${type}; charset=utf-8` }));
}

const policy = { defaultSrc: ["'self'"], imgSrc: ['data:'], baseUri: ["'none'"], frameAncestors: ["'none'"] };
app.use(secureHeaders({ contentSecurityPolicy: policy, referrerPolicy: 'same-origin' }));
app.use(csrf({ origin: new URL(SHOP_URL).origin }), bodyLimit({ maxSize: 16_384 }));
app.use(async (c, next) => {
  await next();
  c.header('cache-control', 'no-store');
});

app.route('/', openCheckout(db, payments, SHOP_URL));
app.route('/operator', openOperator(db, payments, OPERATOR_PASSWORD));
app.notFound(c => c.html(problemPage('There is no such page.'), 404));
app.onError((error, c) => {
  if ('getResponse' in error) return error.getResponse();
  console.error(error);
  return c.html(problemPage('Something went wrong. Please try again in a moment.'), 500);
});

// Sends planned payouts, and finds lost callbacks. It outlasts outages of the database and of the gateway.
const stopping = new AbortController();
const upkeep = gateway.upkeep({ handler, signal: stopping.signal });

const server = serve({ fetch: app.fetch, hostname: HOST, port: Number(PORT) }, () => {
  console.log(`Shop       ${SHOP_URL}\nOperator   ${SHOP_URL}/operator`);
  if (dashboard) console.log(`Sandbox    ${dashboard}`);
});
server.on('error', error => fail(error.message));

/** Connections without a request so far: browsers open some in advance, and Node waits for those, too. */
const unused = new Set<Socket>();
server.on('connection', (socket: Socket) => {
  unused.add(socket);
  socket.once('close', () => unused.delete(socket));
});
server.on('request', ({ socket }: { socket: Socket }) => unused.delete(socket));

/** Finishes running work. A second signal ends the process immediately. */
async function stop(): Promise<void> {
  const closed = new Promise(resolve => server.close(resolve));
  for (const socket of unused) socket.destroy();
  stopping.abort();
  await Promise.all([closed, upkeep]);
  await close();
  await db.$client.end();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
