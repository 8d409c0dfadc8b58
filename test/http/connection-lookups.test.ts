// Lookups that meet the faults of creates: what arrives, what is repeated, and what the caller gets.
import { getEventListeners } from 'node:events';
import type { GatewayError } from 'payment-gateway-sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectDocumented } from '../support/documents.ts';
import { ID, OTHER_ID, record } from '../support/fixtures.ts';
import { tableOf } from '../support/markdown.ts';
import { http } from '../support/tcp.ts';
import { trustOurs } from '../support/tls.ts';
import { type Fault, faultsOf, meeting, WAYS, type Way } from './connection-cases.ts';

beforeEach(trustOurs);
afterEach(() => void vi.restoreAllMocks());

const found = record('completed lookup');
const OK = 'HTTP/1.1 200 OK';
const { idle, during, odd } = faultsOf('200 OK', found);
const FAULTS: readonly Fault[] = [
  ...idle,
  // A lookup is one packet.
  ...during.filter(({ isLong }) => !isLong),
  ...odd,
  {
    what: 'The record of another payment',
    onRequest: ({ socket }) => void socket.write(http(found.replace(ID, OTHER_ID), OK)),
  },
];

const textOf = ({ name, code, status }: GatewayError & { status?: number }): string => {
  const details = [status, name === 'ConnectionError' && code].filter(Boolean).join(', ');
  return `\`${name}\`${details && ` (${details})`}`;
};

/** Everything that is seen of a lookup that meets the fault. */
async function meet(fault: Fault, way: Way, retries: number): Promise<string> {
  const { client, gateway } = await meeting(fault, way, http(found, OK), retries);
  const before = gateway.lookups;
  const { signal } = new AbortController();
  const seen = await client.getPayment(ID, { signal }).then(
    payment => ({ text: 'the payment', payment }),
    (error: GatewayError) => ({ text: textOf(error), payment: undefined }),
  );
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  // Never another payment, and never half of one.
  if (seen.payment) expect(seen.payment).toMatchObject({ id: ID, paymentStatus: 'COMPLETED', amount: 25.5 });
  const arrived = gateway.lookups - before;
  expect(arrived).toBeLessThanOrEqual(1 + retries);
  expect(gateway.creates).toBe(0);
  await gateway.close();
  return `${arrived} → ${seen.text}`;
}

/** What is seen each way; as a rule it is the same. */
function cellOf(seen: ReadonlyMap<Way, string>): string {
  const [usual = '', ...others] = new Set(seen.values());
  const exceptions = others.map(other => {
    const ways = WAYS.filter(way => seen.get(way) === other);
    return `; ${ways.join(' and ')} ${other}`;
  });
  return usual + exceptions.join('');
}

describe('a lookup that meets trouble', () => {
  it('ends as docs/contributing/connections.md says', { timeout: 120_000 }, async () => {
    const row = async (fault: Fault) => {
      const ways = fault.onIdle ? WAYS.filter(way => way.startsWith('reused')) : WAYS;
      const cells = [0, 1].map(async retries => {
        const seen = await Promise.all(ways.map(async way => [way, await meet(fault, way, retries)] as const));
        return cellOf(new Map(seen));
      });
      return [fault.what, ...(await Promise.all(cells))];
    };
    const rows: Promise<string[]>[] = [];
    for (const fault of FAULTS) {
      const played = row(fault);
      rows.push(played);
      if (!fault.isEndless) await played;
    }
    const names = ['what goes wrong', 'without a repetition', 'with one (`retries: 1`)'];
    const ended = await Promise.all(rows);
    const failing = ended.filter(([, , repeated]) => !/^[12] → the payment$/.test(repeated ?? ''));
    expect(ended.length).toBeGreaterThan(2 * failing.length);
    expectDocumented('contributing/connections.md', 'lookups', tableOf(names, failing));
  });
});
