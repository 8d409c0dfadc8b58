// Many callbacks at once over Postgres: none is lost, and slow connections take no place from genuine ones.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createWebhookHandler, GatewayClient, toNodeHandler } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CARD } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, openPostgresStore } from '../support/stores.ts';

const isLacking = lacks(hasPostgres, 'callbacks in a crowd: no PostgreSQL at 127.0.0.1:5432');

/** A shop with a pool of ten whose effect takes 100 ms of its connection, behind node:http. */
async function openShop() {
  const { store, pool, tablePrefix, close } = await openPostgresStore({ max: 10 });
  const credits = `${tablePrefix}_credits`;
  await pool.query(`create table ${credits} (reference text not null)`);
  const sandbox = new Sandbox({ fetch: async () => new Response() });
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store });
  const handler = createWebhookHandler({
    gateway,
    onPaid: ({ reference }, { tx }) => tx.query(`insert into ${credits} select $1 from pg_sleep(0.1)`, [reference]),
    onError: () => {},
  });
  const server = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    gateway,
    handler,
    port,
    /** Creates completed payments. @returns their callbacks */
    async completed(count: number) {
      const bodies: string[] = [];
      for (let made = 0; made < count; made++) {
        const { payment } = await gateway.createDeposit({ ...CARD, reference: randomUUID() });
        await sandbox.complete(payment.id);
        bodies.push(JSON.stringify({ id: payment.id, paymentStatus: 'COMPLETED' }));
      }
      await sandbox.idle();
      return bodies;
    },
    post: async (body: string) => (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).status,
    credits: async () =>
      (await pool.query(`select count(*)::int as all, count(distinct reference)::int as once from ${credits}`)).rows[0],
    async close() {
      server.closeAllConnections();
      server.close();
      await pool.query(`drop table ${credits}`);
      await close();
    },
  };
}

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  if (!isLacking) shop = await openShop();
});
afterAll(() => shop?.close());

it.skipIf(isLacking)('credits each of 600 callbacks at once, by itself or by the next upkeep', async () => {
  const before = await shop.credits();
  const bodies = await shop.completed(600);
  expect(bodies).toHaveLength(600);
  const statuses = await Promise.all(bodies.map(shop.post));
  expect(statuses.filter(status => status !== 200 && status !== 503)).toEqual([]);
  await shop.gateway.upkeep({ handler: shop.handler, once: true, olderThan: 0 });
  const { all, once } = await shop.credits();
  expect([all - before.all, once - before.once]).toEqual([600, 600]);
});

it.skipIf(isLacking)('answers 60 genuine callbacks next to 1,100 connections of a byte a second', async () => {
  const before = await shop.credits();
  const bodies = await shop.completed(60);
  const sockets: Socket[] = [];
  for (let n = 0; n < 1_100; n++) {
    const socket = connect(shop.port, '127.0.0.1').on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nhost: shop.example\r\ncontent-length: 4000\r\n\r\n{');
    sockets.push(socket);
  }
  await Promise.all(sockets.map(socket => (socket.connecting ? once(socket, 'connect') : undefined)));
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(' ');
  }, 1_000);
  const statuses = await Promise.all(bodies.map(shop.post));
  clearInterval(dripping);
  for (const socket of sockets) socket.destroy();
  expect(statuses).toEqual(bodies.map(() => 200));
  const after = await shop.credits();
  expect(after.once - before.once).toBe(60);
});
