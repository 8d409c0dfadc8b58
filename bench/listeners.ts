// What it costs to be told of a create: CPU of the whole process, 64 in flight, by a fetch that answers at once. Rounds alternate.

import { tracingChannel } from 'node:diagnostics_channel';
import { pathToFileURL } from 'node:url';
import { GatewayClient } from 'payment-gateway-sdk';
import { median } from './statistics.ts';

const CREATES = 6_400;
const IN_FLIGHT = 64;

const answer = JSON.stringify({
  result: {
    ...{ id: '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10', paymentStatus: 'PENDING', paymentType: 'DEPOSIT' },
    ...{ paymentMethod: 'CARD', amount: 25.5, currency: 'EUR', redirectUrl: 'https://pay.example/p' },
  },
});
const order = {
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  reference: 'order-1042',
  webhookUrl: 'https://shop.example/callbacks',
} as const;

const open = (onEvent?: () => void) =>
  new GatewayClient({
    ...{ baseUrl: 'https://gateway.example', apiKey: 'key', signKey: 'key', onEvent },
    fetch: async () => new Response(answer, { status: 201 }),
  });

async function cpuOf(gateway: GatewayClient): Promise<number> {
  const before = process.cpuUsage();
  for (let sent = 0; sent < CREATES; sent += IN_FLIGHT) {
    await Promise.all(Array.from({ length: IN_FLIGHT }, () => gateway.createDeposit(order)));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CREATES;
}

/** Microseconds per create. */
export async function listeners(rounds: number): Promise<{ name: string; us: number }[]> {
  const [silent, told] = [open(), open(() => {})];
  const { start, asyncEnd } = tracingChannel('payment-gateway-sdk:create');
  const listen = () => {};
  const traced = async () => {
    for (const channel of [start, asyncEnd]) channel.subscribe(listen);
    try {
      return await cpuOf(silent);
    } finally {
      for (const channel of [start, asyncEnd]) channel.unsubscribe(listen);
    }
  };
  const scenes = {
    'nobody listens': () => cpuOf(silent),
    '`onEvent`': () => cpuOf(told),
    'a subscriber of the tracing channel': traced,
  };
  const seen = new Map<string, number[]>();
  for (let round = -1; round < rounds; round++) {
    for (const [name, scene] of Object.entries(scenes)) {
      const us = await scene();
      // The first round warms up.
      if (round >= 0) seen.set(name, [...(seen.get(name) ?? []), us]);
    }
  }
  return [...seen].map(([name, all]) => ({ name, us: median(all) }));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await listeners(11));
