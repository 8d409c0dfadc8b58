// How the command line prints what happens, and what there is.
import { stripVTControlCharacters, styleText } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Delivery } from '../../src/sandbox/callbacks/delivery.ts';
import { callbackLine, lineOf, paymentLine, playedText, timedLineOf } from '../../src/sandbox/cli/lines.ts';
import type { Happening } from '../../src/sandbox/events.ts';
import type { PaymentRecord } from '../../src/sandbox/ledger/record.ts';
import { ID } from '../support/fixtures.ts';

const HOSTILE = 'a\u001b[2J\nb';
const SHOWN = 'a·[2J·b';
const DELIVERY: Delivery = {
  id: 3,
  at: Date.UTC(2026, 10, 23, 10, 20, 30),
  paymentId: ID,
  paymentStatus: 'COMPLETED',
  url: 'http://localhost:3000/callbacks',
  body: '{}',
  status: 200,
  durationMs: 12.4,
};
const PAYMENT = {
  id: ID,
  paymentStatus: 'PENDING',
  created: { date: '2026-11-23 10:20:30.000000', timezone_type: 3, timezone: 'UTC' },
  paymentType: 'DEPOSIT',
  paymentMethod: 'CARD',
  reference: 'order-1',
  amount: 25.5,
  currency: 'EUR',
} as PaymentRecord;

const line = (happening: Happening) => stripVTControlCharacters(lineOf({ ...happening, at: 0 }) ?? 'no line');
const request = (changes: object = {}): Happening => ({
  ...{ type: 'request', callId: 1, method: 'POST', path: '/api/v1/payments', status: 201, durationMs: 4.6 },
  ...changes,
});
/** On this machine's clock, as the command line has it. */
const clockTime = (at: number) => {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(part => String(part).padStart(2, '0')).join(':');
};

it.each<[Happening, string]>([
  [request({ paymentId: ID }), `201 POST /api/v1/payments  ${ID}  5 ms`],
  [
    request({ method: 'GET', path: `/api/v1/payments/${ID}`, status: 200, paymentId: ID }),
    `200 GET /api/v1/payments/${ID}  5 ms`,
  ],
  [request({ status: 422, message: HOSTILE }), `422 POST /api/v1/payments  5 ms  ${SHOWN}`],
  [request({ path: HOSTILE, status: 404 }), `404 POST ${SHOWN}  5 ms`],
  [request({ status: undefined, fault: 'drop' }), 'broken POST /api/v1/payments  5 ms  fault: drop'],
  [
    { type: 'move', paymentId: ID, reference: HOSTILE, from: 'PENDING', paymentStatus: 'COMPLETED' },
    `    COMPLETED  ${SHOWN}  ${ID}`,
  ],
  [{ type: 'move', paymentId: ID, reference: null, from: 'PENDING', paymentStatus: 'FAILED' }, `    FAILED    ${ID}`],
  [
    { type: 'callback-waits', paymentId: ID, paymentStatus: 'COMPLETED' },
    '    callback COMPLETED waits for the next one of its payment',
  ],
  [
    { type: 'callback-waits', paymentId: ID, paymentStatus: 'FAILED', due: 1_000, fault: 'callback-delay' },
    `    callback FAILED waits for ${clockTime(1_000)}  fault: callback-delay`,
  ],
  [
    { type: 'callback', delivery: DELIVERY },
    '200 callback COMPLETED → http://localhost:3000/callbacks  12 ms  delivery 3',
  ],
  [{ type: 'fault', fault: 'drop' }, '    armed: drop'],
  [{ type: 'fault', fault: 'drop', isDisarmed: true }, '    disarmed: drop'],
  [{ type: 'fault', isDisarmed: true }, '    disarmed'],
  [{ type: 'clock', offset: 300_000 }, '    clock: +300000 ms'],
  [{ type: 'clock', offset: 0 }, '    clock: +0 ms'],
  [{ type: 'clock', offset: -5 }, '    clock: -5 ms'],
  [{ type: 'scenario', paymentId: ID, name: 'refund', problems: [] }, '    refund: as expected'],
  [{ type: 'scenario', paymentId: ID, name: 'refund', problems: ['no'] }, '    refund: not as expected'],
  [{ type: 'reset' }, '    reset'],
])('%o', (happening, printed) => {
  expect(line(happening)).toBe(printed);
});

it.each<[Partial<Delivery>, string]>([
  [
    { fault: 'callback-forge', repeats: 2 },
    '200 callback COMPLETED → http://localhost:3000/callbacks  12 ms  fault: callback-forge  delivery 3, again 2',
  ],
  [
    { status: undefined as never, error: HOSTILE },
    `--- callback COMPLETED → http://localhost:3000/callbacks  ${SHOWN}  delivery 3`,
  ],
  [{ url: HOSTILE, durationMs: undefined as never }, `200 callback COMPLETED → ${SHOWN}  0 ms  delivery 3`],
])('a delivery that is %o', (changes, printed) => {
  expect(stripVTControlCharacters(callbackLine({ ...DELIVERY, ...changes }))).toBe(printed);
});

it('what is good is green, and what is bad is red', () => {
  vi.stubEnv('FORCE_COLOR', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const begins = (happening: Happening, style: 'green' | 'red', text: string) =>
    expect(lineOf({ ...happening, at: 0 })?.trimStart()).toContain(styleText(style, text, { validateStream: false }));
  begins(request({ status: 299 }), 'green', '299');
  begins(request({ status: 300 }), 'red', '300');
  begins(request({ status: undefined }), 'red', 'broken');
  begins({ type: 'callback', delivery: { ...DELIVERY, status: 299 } }, 'green', '299');
  begins({ type: 'callback', delivery: { ...DELIVERY, status: 300 } }, 'red', '300');
});

it('a line has the time of its event, and a callback that of its post', () => {
  const at = Date.UTC(2026, 10, 23, 9);
  expect(stripVTControlCharacters(timedLineOf({ type: 'reset', at }) ?? '')).toBe(`${clockTime(at)}     reset`);
  expect(stripVTControlCharacters(timedLineOf({ type: 'callback', at, delivery: DELIVERY }) ?? '')).toBe(
    `${clockTime(DELIVERY.at)} ${stripVTControlCharacters(callbackLine(DELIVERY))}`,
  );
  // Of a later version, which this one does not know.
  expect(timedLineOf({ type: 'unheard-of', at } as never)).toBeUndefined();
});

it('a scenario says what was wrong, or that nothing was checked', () => {
  const played = { payment: PAYMENT, deliveries: [DELIVERY], problems: [HOSTILE] };
  const linesOf = (text: string) => stripVTControlCharacters(text).split('\n');
  const line = stripVTControlCharacters(callbackLine(DELIVERY));
  expect(linesOf(playedText(played))).toEqual([paymentLine(PAYMENT), line, `Not as expected: ${SHOWN}`]);
  const nothing = { ...played, problems: [], note: 'Nothing was checked.' };
  expect(linesOf(playedText(nothing))).toEqual([paymentLine(PAYMENT), 'Nothing was checked.']);
});
