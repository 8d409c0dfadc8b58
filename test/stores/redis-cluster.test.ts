// redisInbox over a real Redis cluster of three nodes, each with a third of the slots.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redisInbox } from 'payment-gateway-sdk/redis';
import { inboxSuite } from 'payment-gateway-sdk/testing';
import { createCluster } from 'redis';
import { createCluster as createCluster5 } from 'redis-5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completedEvent } from '../support/credits.ts';
import { freePorts } from '../support/ports.ts';
import { isCi, lacks } from '../support/skips.ts';

const hasServer = spawnSync('redis-server', ['--version']).status === 0;

/** First and last slot of each node. */
const SLOTS = [
  [0, 5460],
  [5461, 10_922],
  [10_923, 16_383],
] as const;

async function openRedisCluster() {
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-sdk-redis-'));
  const ports = await freePorts(SLOTS.length);
  const servers: ChildProcess[] = ports.map(port => {
    const settings = { port, bind: '127.0.0.1', dir: folder, save: '', 'cluster-enabled': 'yes' };
    const args = Object.entries({ ...settings, 'cluster-config-file': `${port}.conf` });
    return spawn(
      'redis-server',
      args.flatMap(([name, value]) => [`--${name}`, String(value)]),
      { stdio: 'ignore' },
    );
  });
  const nodes = ports.map(port => {
    const node = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 20, maxRetriesPerRequest: null });
    node.on('error', () => {});
    return node;
  });
  for (const [index, node] of nodes.entries()) {
    const [first = 0, last = 0] = SLOTS[index] ?? [];
    await node.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(last));
    await node.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
  }
  for (const port of ports.slice(1)) await nodes[0]?.call('CLUSTER', 'MEET', '127.0.0.1', String(port));
  const isReady = async (node: Redis) => {
    const [state, info] = [String(await node.call('CLUSTER', 'INFO')), String(await node.call('CLUSTER', 'SLOTS'))];
    return state.includes('cluster_state:ok') && ports.every(port => info.includes(String(port)));
  };
  while (!(await Promise.all(nodes.map(isReady))).every(Boolean)) await delay(50);
  return {
    ports,
    nodes,
    close: async () => {
      for (const node of nodes) node.disconnect();
      await Promise.all(servers.map(server => server.kill() && once(server, 'exit')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Every cluster client that redisInbox takes, which is told of one node only, connected. */
const clients = {
  'node-redis 6': async (port: number) => {
    const client = createCluster({ rootNodes: [{ socket: { host: '127.0.0.1', port } }] });
    client.on('error', () => {});
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  'node-redis 5': async (port: number) => {
    const client = createCluster5({ rootNodes: [{ socket: { host: '127.0.0.1', port } }] });
    client.on('error', () => {});
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  ioredis: async (port: number) => {
    const client = new Redis.Cluster([{ host: '127.0.0.1', port }]);
    client.on('error', () => {});
    return { client, close: () => client.disconnect() };
  },
};

describe.skipIf(lacks(isCi && hasServer, 'redisInbox over a cluster, which CI plays (with redis-server)'))(
  'redisInbox over a Redis cluster',
  () => {
    let cluster: Awaited<ReturnType<typeof openRedisCluster>>;

    beforeAll(async () => {
      cluster = await openRedisCluster();
    }, 30_000);
    afterAll(() => cluster?.close());

    describe.each(Object.entries(clients))('with %s', (name, open) => {
      let one: Awaited<ReturnType<typeof open>>;
      let other: Awaited<ReturnType<typeof open>>;

      beforeAll(async () => {
        const [first = 0, , last = 0] = cluster.ports;
        one = await open(first);
        other = await open(last);
      });
      afterAll(() => {
        one.close();
        other.close();
      });

      inboxSuite({ test: it, make: () => [redisInbox(one.client), redisInbox(other.client)] });

      it('spreads payments over the nodes, and keeps all keys of one together', async () => {
        const prefix = `of ${name}`;
        const inbox = redisInbox(one.client, { prefix });
        const events = Array.from({ length: 60 }, completedEvent);
        for (const event of events) expect(await inbox.run(event, async () => {})).toBe('ran');
        for (const event of events) {
          expect(await redisInbox(other.client, { prefix }).run(event, async () => {})).toBe('already');
        }
        const keys = await Promise.all(cluster.nodes.map(node => node.keys(`${prefix}*`)));
        for (const own of keys) expect(own.length).toBeGreaterThan(0);
        expect(keys.flat().sort()).toEqual(events.map(({ paymentId }) => `${prefix}:{${paymentId}}:marks`).sort());
      });

      it('renews a lease on the node that has it', async () => {
        const event = completedEvent();
        let isAborted = true;
        const result = await redisInbox(one.client, { leaseMs: 1000 }).run(event, async ({ signal }) => {
          await delay(1_200);
          isAborted = signal.aborted;
        });
        expect([result, isAborted]).toEqual(['ran', false]);
      });
    });
  },
);
