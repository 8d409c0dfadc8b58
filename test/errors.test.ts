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
import { describe, expect, it } from 'vitest';
import { ID } from './support/fixtures.ts';

const ANSWER = { status: 503, body: 'zoe@customer.example', requestId: 'r-1' };
const ISSUES = [
  { path: 'amount', message: 'must be positive' },
  { path: '', message: 'is no object' },
];
const SINCE = new Date('2026-11-23T10:00:00Z');

it('an InvalidRequestError lists what is wrong, by field, and that nothing was sent', () => {
  expect(new InvalidRequestError(ISSUES)).toMatchObject({
    name: 'InvalidRequestError',
    code: 'invalid_request',
    message: 'Invalid request: amount: must be positive; is no object.',
    issues: ISSUES,
  });
  const create = new InvalidRequestError(ISSUES.slice(0, 1), 'not_sent');
  expect(create.message).toBe('Invalid request: amount: must be positive. Nothing was sent.');
  expect(create.outcome).toBe('not_sent');
  expect(new InvalidRequestError(ISSUES)).not.toHaveProperty('outcome');
});

describe('an error of an answer', () => {
  it.each([
    ['ApiError', 'api_error', new ApiError('x', ANSWER)],
    ['PaymentNotFoundError', 'payment_not_found', new PaymentNotFoundError('x', ANSWER)],
    ['ResponseError', 'unreadable_response', new ResponseError('x', ANSWER, ISSUES)],
  ])('%s has the status, the request id, and the body only for who asks for it', (name, code, error) => {
    expect(error).toMatchObject({ name, code, status: 503, requestId: 'r-1', body: ANSWER.body });
    for (const shown of [JSON.stringify(error), inspect(error, { showHidden: true, getters: true, depth: 9 })]) {
      expect(shown).toContain('r-1');
      expect(shown).not.toContain('zoe@');
    }
  });

  it('has only what it was given', () => {
    expect(Object.keys(new ApiError('x', { status: 500, body: '' })).toSorted()).toEqual(['code', 'name', 'status']);
    const asked = new ApiError('x', { ...ANSWER, pause: 2_000 });
    expect(asked).toMatchObject({ retryAfter: 2_000 });
    expect(new ResponseError('x', ANSWER, ISSUES).issues).toBe(ISSUES);
  });
});

it.each([
  ['ConnectionError', 'ECONNRESET', new ConnectionError('x', 'ECONNRESET')],
  ['StoreError', 'store_failed', new StoreError('x')],
  ['ConfigurationError', 'configuration', new ConfigurationError('x')],
  ['WaitTimeoutError', 'wait_timeout', new WaitTimeoutError('x', undefined)],
  ['WebhookError', 'not_json', new WebhookError('not_json', 'x')],
])('a %s has the code %s', (name, code, error) => {
  expect(error).toMatchObject({ name, code, message: 'x' });
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name, code, message: 'x' });
});

it('a StoreError was not sent, and keeps its cause', () => {
  const cause = new Error('no table');
  expect(new StoreError('x', { cause })).toMatchObject({ outcome: 'not_sent', cause });
  expect(Object.hasOwn(new StoreError('x'), 'cause')).toBe(false);
});

it('a WaitTimeoutError has the last payment only for who asks for it', () => {
  const payment = { id: ID, customer: 'zoe@customer.example' } as never;
  const error = new WaitTimeoutError('x', payment);
  expect(error.lastPayment).toBe(payment);
  expect(JSON.stringify(error) + inspect(error, { showHidden: true, getters: true })).not.toContain('zoe@');
});

describe('a DuplicateReferenceError', () => {
  it.each([
    [
      'planned',
      'not_sent',
      `The payout is planned, and upkeep sends it. To cancel it, call gateway.settle(reference, 'not_created').`,
    ],
    [
      'begun',
      'unknown',
      'That request may have made a payment: settle it before you create another, under any reference.',
    ],
    [
      'created',
      'not_sent',
      `That request made payment ${ID}: to get it, send exactly that request; for a second payment use another reference.`,
    ],
  ] as const)('says what differs, and what to do where the other one is %s', (state, outcome, next) => {
    const error = new DuplicateReferenceError('order-"1"', ['amount', 'other fields'], state, { paymentId: ID });
    expect(error).toMatchObject({
      name: 'DuplicateReferenceError',
      code: 'duplicate_reference',
      reference: 'order-"1"',
      differing: ['amount', 'other fields'],
      outcome,
      paymentId: ID,
    });
    expect(error.message).toBe(
      `Reference "order-\\"1\\"" belongs to another request. Different: amount, other fields, such as the customer, an address or a URL. Nothing was sent now. ${next}`,
    );
  });

  it('says that the payout itself is planned, if nothing differs', () => {
    const error = new DuplicateReferenceError('payout-1', [], 'planned', {});
    expect(error).toMatchObject({ outcome: 'not_sent', differing: [] });
    expect(error.message).toBe(
      `Reference "payout-1" is a planned payout. Nothing was sent now. The payout is planned, and upkeep sends it. To cancel it, call gateway.settle(reference, 'not_created').`,
    );
  });
});

describe('a PaymentInDoubtError', () => {
  const NEXT = 'Its callback settles it. If none comes, ask the gateway, then call gateway.settle.';
  it.each([
    [{}, `Nothing was sent now. ${NEXT}`],
    [{ underWay: true }, `Nothing was sent now. It may still be running: repeat the same create in a moment. ${NEXT}`],
  ])('says what to do next: %o', (details, next) => {
    const error = new PaymentInDoubtError('order-1', SINCE, details);
    expect(error).toMatchObject({
      name: 'PaymentInDoubtError',
      code: 'payment_in_doubt',
      outcome: 'unknown',
      reference: 'order-1',
      since: SINCE,
      ...details,
    });
    expect(error.message).toBe(`An earlier create of "order-1" is still running, or its outcome is unknown. ${next}`);
    expect(error).not.toHaveProperty('settleableAt');
    if (!('underWay' in details)) expect(error).not.toHaveProperty('underWay');
  });

  it('says until when it is too early to settle it', () => {
    const settleableAt = new Date('2026-11-23T10:05:00Z');
    const error = new PaymentInDoubtError('order-1', SINCE, { settleableAt, paymentId: ID });
    expect(error).toMatchObject({ settleableAt, paymentId: ID });
    expect(error.message).toBe(
      "Too early: the create of \"order-1\" may still reach the gateway. 'not_created' is refused until 2026-11-23T10:05:00.000Z, when its timeout and the store's settleMargin have passed.",
    );
  });
});

describe('isGatewayError', () => {
  it('knows those of another copy of this package, by a mark that is not shown', () => {
    const error = new ConnectionError('x', 'timeout');
    expect([isGatewayError(error), error instanceof GatewayError]).toEqual([true, true]);
    const copied = Object.defineProperty({}, Symbol.for('payment-gateway-sdk.error'), { value: true });
    expect(isGatewayError(copied)).toBe(true);
    expect(Object.getOwnPropertySymbols({ ...error })).toEqual([]);
  });
});
