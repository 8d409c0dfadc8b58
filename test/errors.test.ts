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

const DUPLICATE = { code: 'duplicate_reference', reference, differing: DIFFERING };
const DOUBT = { code: 'payment_in_doubt', reference, since: SINCE, outcome: 'unknown' };
const duplicate = (state: 'planned' | 'begun' | 'created', differing = DIFFERING, details = {}) =>
  new DuplicateReferenceError(reference, differing, state, details);
const inDoubt = (details?: object) => new PaymentInDoubtError(reference, SINCE, details);
const OTHERS = 'Different: amount, other fields, such as the customer, an address or a URL. Nothing was sent now.';

it.each<[error: GatewayError, fields: object, said: string]>([
  [
    new InvalidRequestError(ISSUES),
    { code: 'invalid_request', issues: ISSUES },
    'amount: must be positive; is no object.',
  ],
  [new InvalidRequestError(ISSUES, 'not_sent'), { outcome: 'not_sent' }, 'Nothing was sent.'],
  [new ApiError('x', ANSWER), { code: 'api_error', status: 503, requestId: 'r-1' }, 'x'],
  [new ApiError('x', { ...ANSWER, pause: 2_000 }), { retryAfter: 2_000 }, 'x'],
  [new PaymentNotFoundError('x', ANSWER), { code: 'payment_not_found', status: 503, requestId: 'r-1' }, 'x'],
  [new ResponseError('x', ANSWER, ISSUES), { code: 'unreadable_response', status: 503, issues: ISSUES }, 'x'],
  [new ConnectionError('x', 'ECONNRESET'), { code: 'ECONNRESET' }, 'x'],
  [new StoreError('x'), { code: 'store_failed', outcome: 'not_sent' }, 'x'],
  [new ConfigurationError('x'), { code: 'configuration' }, 'x'],
  [new WaitTimeoutError('x', undefined), { code: 'wait_timeout' }, 'x'],
  [new WebhookError('not_json', 'x'), { code: 'not_json', issues: [] }, 'x'],
  [duplicate('planned'), { ...DUPLICATE, outcome: 'not_sent' }, `${OTHERS} The payout is planned`],
  [duplicate('planned', []), { differing: [] }, 'is a planned payout.'],
  [duplicate('begun'), { ...DUPLICATE, outcome: 'unknown' }, 'settle it before you create another'],
  [duplicate('created', DIFFERING, { paymentId: ID }), { outcome: 'not_sent', paymentId: ID }, `made payment ${ID}`],
  [inDoubt(), DOUBT, 'Nothing was sent now. Its callback settles it'],
  [inDoubt({ underWay: true }), { ...DOUBT, underWay: true }, 'repeat the same create in a moment.'],
  [
    inDoubt({ settleableAt, paymentId: ID }),
    { ...DOUBT, settleableAt, paymentId: ID },
    "'not_created' is refused until 2026-11-23T10:05:00.000Z",
  ],
])('%s has its name, its code, and fields for programs', (error, fields, said) => {
  expect(error).toMatchObject({ name: error.constructor.name, code: expect.any(String), ...fields });
  expect(error.message).toContain(said);
  const { name, code, message } = error;
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name, code, message });
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
