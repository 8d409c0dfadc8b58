// How the command line prints events: one line each, whatever a merchant's data contains.
import { stripVTControlCharacters, styleText } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Delivery } from '../../src/sandbox/callbacks/delivery.ts';
import { faultsText, lineOf, paymentsText, paymentText, playedText, timedLineOf } from '../../src/sandbox/cli/lines.ts';
import type { PaymentRecord } from '../../src/sandbox/ledger/record.ts';
import type { Happening } from '../../src/sandbox/log/events.ts';
import { ID } from '../support/fixtures.ts';

const HOSTILE = 'a\u001b[2J\nb';
const SHOWN = 'a·[2J·b';
const url = 'http://localhost:3000/callbacks';
const BASE = { id: 3, at: Date.UTC(2026, 10, 23, 10, 20, 30), paymentId: ID, paymentStatus: 'COMPLETED', body: '{}' };
const delivery = (changes: object = {}): Happening => ({
  type: 'callback',
  delivery: { ...BASE, url, status: 200, durationMs: 12.4, ...changes } as Delivery,
});
const request = (changes: object = {}): Happening => ({
  ...{ type: 'request', callId: 1, method: 'POST', path: '/api/v1/payments', status: 201, durationMs: 4.6 },
  ...changes,
});
const waits = (rest: object) =>
  ({ type: 'callback-waits', paymentId: ID, paymentStatus: 'FAILED', ...rest }) as Happening;
const scenario = (...problems: string[]) => ({ type: 'scenario', paymentId: ID, name: 'refund', problems }) as const;
const move = (reference: string | null) =>
  ({ type: 'move', paymentId: ID, reference, from: 'PENDING', paymentStatus: 'COMPLETED' }) as const;
/** On this machine's clock, as the command line has it. */
const clockTime = (at: number) => {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(part => String(part).padStart(2, '0')).join(':');
};

it.each<[Happening, string]>([
  [request({ paymentId: ID }), `201 POST /api/v1/payments  ${ID}  5 ms`],
  [request({ method: 'GET', path: '/x', status: 200, paymentId: ID }), '200 GET /x  5 ms'],
  [request({ status: 422, message: HOSTILE, path: HOSTILE }), `422 POST ${SHOWN}  5 ms  ${SHOWN}`],
  [request({ status: undefined, fault: 'drop' }), 'broken POST /api/v1/payments  5 ms  fault: drop'],
  [move(HOSTILE), `    COMPLETED  ${SHOWN}  ${ID}`],
  [move(null), `    COMPLETED    ${ID}`],
  [waits({}), '    callback FAILED waits for the next one of its payment'],
  [
    waits({ due: 1_000, fault: 'callback-delay' }),
    `    callback FAILED waits for ${clockTime(1_000)}  fault: callback-delay`,
  ],
  [delivery(), `200 callback COMPLETED → ${url}  12 ms  delivery 3`],
  [
    delivery({ fault: 'callback-forge', repeats: 2 }),
    `200 callback COMPLETED → ${url}  12 ms  fault: callback-forge  delivery 3, again 2`,
  ],
  [
    delivery({ status: undefined, error: HOSTILE, url: HOSTILE }),
    `--- callback COMPLETED → ${SHOWN}  ${SHOWN}  delivery 3`,
  ],
  [{ type: 'fault', fault: 'drop' }, '    armed: drop'],
  [{ type: 'fault', fault: 'drop', isDisarmed: true }, '    disarmed: drop'],
  [{ type: 'fault' }, '    disarmed'],
  [{ type: 'clock', offset: 300_000 }, '    clock: +300000 ms'],
  [{ type: 'clock', offset: -5 }, '    clock: -5 ms'],
  [scenario(), '    refund: as expected'],
  [scenario('no'), '    refund: not as expected'],
  [{ type: 'reset' }, '    reset'],
])('%o', (happening, printed) => {
  expect(stripVTControlCharacters(lineOf({ ...happening, at: 0 }) ?? 'no line')).toBe(printed);
});

it('what is good is green, and what is bad is red', () => {
  vi.stubEnv('FORCE_COLOR', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const of of [request, delivery]) {
    const [good, bad] = [299, 300].map(status => lineOf({ ...of({ status }), at: 0 }));
    expect(good).toContain(styleText('green', '299', { validateStream: false }));
    expect(bad).toContain(styleText('red', '300', { validateStream: false }));
  }
});

it('a line has the time of its event', () => {
  expect(timedLineOf({ type: 'reset', at: 0 })).toContain(clockTime(0));
  // Of a later version, which this one does not know.
  expect(timedLineOf({ type: 'unheard-of', at: 0 } as never)).toBeUndefined();
});

it('a table, a payment and a scenario keep hostile data on its line', () => {
  const created = { date: '2026-11-23 10:20:30.000000', timezone_type: 3, timezone: 'UTC' };
  const text = { reference: HOSTILE, currency: HOSTILE, errorMessage: HOSTILE, paymentMethod: HOSTILE };
  const payment = { id: ID, paymentStatus: 'FAILED', paymentType: 'WITHDRAWAL', amount: 25.5, created, ...text };
  const record = payment as PaymentRecord;
  const shown = [
    paymentsText({ payments: [record], total: 1 })
      .split('\n')
      .slice(1),
    faultsText({ faults: [{ id: 1, fault: 'drop', on: 'create', count: 1, reference: HOSTILE }] }).split('\n'),
    paymentText({ payment: record, request: { amount: 25.5 }, callbackUrl: HOSTILE, postedTo: HOSTILE, timeline: [] })
      .split('\n')
      .slice(1),
    playedText({ payment: record, deliveries: [], problems: [HOSTILE] }).split('\n'),
  ];
  expect(shown.map(({ length }) => length)).toEqual([1, 1, 5, 2]);
  for (const line of shown.flat().filter(line => !line.includes('\u001b['))) expect(line).toContain(SHOWN);
  expect(shown[0]?.[0]).toContain(`-25.50 ${SHOWN}`);
});
