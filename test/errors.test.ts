// What an error says and shows: messages are read by people, the other fields by code.
import { inspect } from 'node:util';
import {
  ApiError,
  ConfigurationError,
  ConnectionError,
  DuplicateReferenceError,
  GatewayError,
  InvalidRequestError,
  isGatewayError,
  PaymentInDoubtError,
  PaymentNotFoundError,
  ResponseError,
  StoreError,
  WaitTimeoutError,
  WebhookError,
} from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import { ID } from './support/fixtures.ts';

const ANSWER = { status: 503, body: 'zoe@customer.example', requestId: 'r-1' };
const ISSUES = [
  { path: 'amount', message: 'must be positive' },
  { path: '', message: 'is no object' },
];
const SINCE = new Date('2026-11-23T10:00:00Z');
const settleableAt = new Date('2026-11-23T10:05:00Z');
const DIFFERING = ['amount', 'other fields'];
const reference = 'order-"1"';

it.each<[error: GatewayError, code: string, fields: object, said: string]>([
  [new InvalidRequestError(ISSUES), 'invalid_request', { issues: ISSUES }, 'amount: must be positive; is no object.'],
  [new InvalidRequestError(ISSUES, 'not_sent'), 'invalid_request', { outcome: 'not_sent' }, 'Nothing was sent.'],
  [
    new ApiError('x', { ...ANSWER, pause: 2_000 }),
    'api_error',
    { status: 503, requestId: 'r-1', retryAfter: 2_000 },
    'x',
  ],
  [new PaymentNotFoundError('x', ANSWER), 'payment_not_found', { status: 503, requestId: 'r-1' }, 'x'],
  [new ResponseError('x', ANSWER, ISSUES), 'unreadable_response', { status: 503, issues: ISSUES }, 'x'],
  [new ConnectionError('x', 'ECONNRESET'), 'ECONNRESET', {}, 'x'],
  [new StoreError('x'), 'store_failed', { outcome: 'not_sent' }, 'x'],
  [new ConfigurationError('x'), 'configuration', {}, 'x'],
  [new WaitTimeoutError('x', undefined), 'wait_timeout', {}, 'x'],
  [new WebhookError('not_json', 'x'), 'not_json', { issues: [] }, 'x'],
  [
    new DuplicateReferenceError(reference, DIFFERING, 'planned', {}),
    'duplicate_reference',
    { reference, differing: DIFFERING, outcome: 'not_sent' },
    'Different: amount, other fields, such as the customer, an address or a URL. Nothing was sent now. The payout is planned',
  ],
  [new DuplicateReferenceError(reference, [], 'planned', {}), 'duplicate_reference', {}, 'is a planned payout.'],
  [
    new DuplicateReferenceError(reference, DIFFERING, 'begun', {}),
    'duplicate_reference',
    { outcome: 'unknown' },
    'settle it before you create another',
  ],
  [
    new DuplicateReferenceError(reference, DIFFERING, 'created', { paymentId: ID }),
    'duplicate_reference',
    { outcome: 'not_sent', paymentId: ID },
    `That request made payment ${ID}`,
  ],
  [
    new PaymentInDoubtError(reference, SINCE),
    'payment_in_doubt',
    { reference, since: SINCE, outcome: 'unknown' },
    'Nothing was sent now. Its callback settles it',
  ],
  [
    new PaymentInDoubtError(reference, SINCE, { underWay: true }),
    'payment_in_doubt',
    { underWay: true },
    'repeat the same create in a moment.',
  ],
  [
    new PaymentInDoubtError(reference, SINCE, { settleableAt, paymentId: ID }),
    'payment_in_doubt',
    { settleableAt, paymentId: ID, outcome: 'unknown' },
    "'not_created' is refused until 2026-11-23T10:05:00.000Z",
  ],
])('%s has its name, its code, and fields for programs', (error, code, fields, said) => {
  expect(error).toMatchObject({ name: error.constructor.name, code, ...fields });
  expect(error.message).toContain(said);
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name: error.name, code, message: error.message });
  expect([isGatewayError(error), error instanceof GatewayError]).toEqual([true, true]);
});

it('an error has only what it was given', () => {
  expect(Object.keys(new ApiError('x', { status: 500, body: '' })).toSorted()).toEqual(['code', 'name', 'status']);
  const inDoubt = Object.keys(new PaymentInDoubtError(reference, SINCE)).toSorted();
  expect(inDoubt).toEqual(['code', 'name', 'outcome', 'reference', 'since']);
  const cause = new Error('no table');
  expect(new StoreError('x', { cause })).toHaveProperty('cause', cause);
  expect(Object.hasOwn(new StoreError('x'), 'cause')).toBe(false);
});

it('what may hold customer data is there only for who asks for it', () => {
  const payment = { id: ID, customer: 'zoe@customer.example' } as never;
  const [answered, waited] = [new ResponseError('x', ANSWER, []), new WaitTimeoutError('x', payment)];
  expect([answered.body, waited.lastPayment]).toEqual([ANSWER.body, payment]);
  for (const error of [answered, waited]) {
    const shown = JSON.stringify(error) + inspect(error, { showHidden: true, getters: true, depth: 9 });
    expect(shown).not.toContain('zoe@');
  }
});

it('an error of another copy of this package is known by a mark that is not shown', () => {
  const copied = Object.defineProperty({}, Symbol.for('payment-gateway-sdk.error'), { value: true });
  expect(isGatewayError(copied)).toBe(true);
  expect(Object.getOwnPropertySymbols({ ...new ConnectionError('x', 'timeout') })).toEqual([]);
});
