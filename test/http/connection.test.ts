import { getEventListeners } from 'node:events';
import { GatewayClient } from 'payment-gateway-sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectDocumented } from '../support/documents.ts';
import { CARD, errorOf, ID, KEYS, record } from '../support/fixtures.ts';
import { tableOf } from '../support/markdown.ts';
import { lacks } from '../support/skips.ts';
import { http } from '../support/tcp.ts';
import { trustOurs } from '../support/tls.ts';
import { endOf, type Fault, faultsOf, meeting, SHORT_TIMEOUT, UNREACHED, type Way } from './connection-cases.ts';

const created = record('created card deposit');
const { idle, during, odd } = faultsOf(created);

beforeEach(trustOurs);
afterEach(() => void vi.restoreAllMocks());

/** Everything that is seen of a create that meets the fault. */
async function meet(fault: Fault, way: Way): Promise<string> {
  const { client, gateway } = await meeting(fault, way, http(created), 1);
  const { signal } = new AbortController();
  const description = fault.isLong ? 'x'.repeat(10_000_000) : undefined;
  const seen = await endOf(client.createDeposit({ ...CARD, description }, { signal }));
  // A late delivery would arrive now.
  await new Promise(resolve => setTimeout(resolve, 50));
  const { creates, connections } = gateway;
  await gateway.close();

  expect(creates).toBeLessThanOrEqual(1);
  if (seen.outcome === 'not_sent') expect(creates).toBe(0);
  expect(seen.id ?? ID).toBe(ID);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  if (fault.onIdle) expect(connections).toBe(2);
  return `${creates} → ${seen.text}`;
}

/** A table of the results. It shows http: and https:, or new and reused connections, separately only where they differ. */
function table(
  faults: readonly Fault[],
  columns: readonly [string, Way, Way][],
  seen: ReadonlyMap<string, string>,
): string {
  const rows = faults.map(({ what }) => {
    const cells = columns.map(([, plain, secure]) => {
      const [a = '', b] = [seen.get(what + plain), seen.get(what + secure)];
      return a === b ? a : `${a}; over TLS ${b}`;
    });
    return [what, ...cells];
  });
  const isAlike = rows.every(([, ...cells]) => new Set(cells).size === 1);
  if (isAlike)
    return tableOf(
      ['what goes wrong', 'result'],
      rows.map(row => row.slice(0, 2)),
    );
  return tableOf(['what goes wrong', ...columns.map(([name]) => name)], rows);
}

const NEW: [string, Way, Way] = ['on a new connection', 'new, http:', 'new, https:'];
const REUSED: [string, Way, Way] = ['on a reused connection', 'reused, http:', 'reused, https:'];

describe.skipIf(lacks(process.platform === 'linux', 'swallowed connections, which need the queue of Linux'))(
  'a create that is not sent',
  () => {
    it.each(UNREACHED)('says so: $what', async ({ open }) => {
      const { baseUrl, close, ...gateway } = await open();
      const client = new GatewayClient({ ...KEYS, baseUrl, timeout: SHORT_TIMEOUT, retries: 0 });
      const error = await errorOf(client.createDeposit(CARD));
      expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'not_sent' });
      expect(error).not.toHaveProperty('paymentId');
      expect(await errorOf(client.getPayment(ID))).toMatchObject({ name: 'ConnectionError' });
      expect(gateway.creates ?? 0).toBe(0);
      expect(gateway.lookups ?? 0).toBe(0);
      await close();
    });

    it('is documented with each of these', () => {
      expectDocumented(
        'contributing/connections.md',
        'unreached',
        UNREACHED.map(({ what }) => `- ${what}.`).join('\n'),
      );
    });
  },
);

describe('a create that meets', () => {
  it.each([
    ['trouble between two calls', 'idle', idle, [REUSED]],
    ['trouble during the call', 'during', during, [NEW, REUSED]],
    ['an odd answer', 'odd', odd, [NEW, REUSED]],
  ] as const)('%s ends as documented', { timeout: 120_000 }, async (_, name, faults, columns) => {
    const seen = new Map<string, string>();
    const ways = columns.flatMap(([, plain, secure]) => [plain, secure]);
    const play = (fault: Fault) =>
      Promise.all(ways.map(async way => seen.set(fault.what + way, await meet(fault, way))));
    for (const fault of faults) if (!fault.isEndless) await play(fault);
    await Promise.all(faults.filter(({ isEndless }) => isEndless).map(play));
    expectDocumented('contributing/connections.md', name, table(faults, columns, seen));
  });
});
