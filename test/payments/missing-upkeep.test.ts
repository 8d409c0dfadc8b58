// A client that plans payouts notices that no upkeep sends them.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { GatewayClient } from '../../src/client.ts';
import type { Payment } from '../../src/schemas/records/payment.ts';
import { memoryStore } from '../../src/store/memory.ts';
import { CLIENT } from '../../src/webhooks/client-link.ts';
import { CARD, ID, KEYS, PAYOUT } from '../support/fixtures.ts';
import { accept, MINUTE, openUpkeptShop } from '../support/upkept-shop.ts';
import { json, wire } from '../support/wire.ts';

afterEach(() => void vi.useRealTimers());

const PAYMENT = { id: ID, paymentStatus: 'PENDING', paymentType: 'DEPOSIT', amount: 1, currency: 'EUR' } as Payment;

function openShop(fetch = accept()) {
  vi.useFakeTimers({ toFake: ['performance'] });
  const shop = openUpkeptShop({ fetch });
  const pass = (ms: number) => {
    shop.clock.now += ms;
    vi.advanceTimersByTime(ms);
  };
  /** The check does not delay the call that causes it. */
  const warned = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    return shop.warnings().filter(({ code }) => code === 'upkeep_missing').length;
  };
  return { ...shop, pass, warned };
}
type Shop = ReturnType<typeof openShop>;

describe('a planned payout that waits for 10 minutes', () => {
  it.each<[string, (shop: Shop) => Promise<unknown>]>([
    ['payOut', ({ plan }) => plan('payout-2')],
    ['create', ({ gateway }) => gateway.createDeposit(CARD)],
    ['callback', ({ gateway }) => gateway[CLIENT].reconcile(PAYMENT)],
  ])('is reported by the next %s, at most once a minute', async (_, call) => {
    const shop = openShop();
    await shop.plan('payout-1');
    shop.pass(10 * MINUTE);
    await call(shop);
    expect(await shop.warned()).toBe(1);
    expect(shop.warnings()[0]).toMatchObject({ reference: 'payout-1', operation: 'upkeep' });
    shop.pass(MINUTE - 1);
    await shop.gateway.createDeposit(CARD);
    expect(await shop.warned()).toBe(1);
    shop.pass(1);
    await shop.gateway.createDeposit(CARD);
    expect(await shop.warned()).toBe(2);
  });

  it('is not reported before, nor once it is sent', async () => {
    const { plan, pass, gateway, warned, send } = openShop();
    await plan('payout-1');
    pass(10 * MINUTE - 1);
    await gateway.createDeposit(CARD);
    expect(await warned()).toBe(0);
    await send();
    pass(MINUTE);
    await gateway.createDeposit(CARD);
    expect(await warned()).toBe(0);
  });

  it('is not reported during an outage, which upkeep itself has noticed', async () => {
    const { fetch } = wire(json('{}', 503));
    const { plan, pass, warned, send } = openShop(fetch);
    await plan('payout-1');
    await plan('payout-2');
    expect((await send()).inDoubt).toBe(1);
    pass(10 * MINUTE);
    await plan('payout-3');
    expect(await warned()).toBe(0);
    pass(10 * MINUTE);
    await plan('payout-4');
    expect(await warned()).toBe(1);
  });

  it('is reported by the process if the client has no listener', async () => {
    const { pass, clock } = openShop();
    const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const store = memoryStore({ now: () => clock.now });
    const gateway = new GatewayClient({ ...KEYS, store, fetch: accept() });
    await gateway.payOut({}, PAYOUT);
    pass(10 * MINUTE);
    await gateway.createDeposit(CARD);
    await expect.poll(() => emitted.mock.calls.flat().join()).toContain('no upkeep seems to run');
    emitted.mockRestore();
  });
});

it('a client that plans no payouts reads nothing for it', async () => {
  const { gateway, store, pass } = openShop();
  const due = vi.spyOn(store, 'due');
  for (let minute = 0; minute < 20; minute++) {
    await gateway.createDeposit(CARD);
    pass(MINUTE);
  }
  expect(due).not.toHaveBeenCalled();
});
