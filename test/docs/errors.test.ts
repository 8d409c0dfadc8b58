// docs/errors.md has every class and code, and no other. The compiler checks that the lists of codes here are complete.
import * as sdk from 'payment-gateway-sdk';
import type { SandboxError } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import type { AnyGatewayError, WebhookErrorCode } from '../../src/errors.ts';
import { isRefusal } from '../../src/http-statuses.ts';
import type { CallbackEvent, WarningCode } from '../../src/telemetry/events.ts';
import { endOf } from '../../src/webhooks/reply.ts';
import { rowsOf, sectionOf, textOf } from './pages.ts';

const PAGE = 'docs/errors.md';

/** The code of each class. Those with several codes have a table of them. */
const CLASSES: Record<AnyGatewayError['name'], string> = {
  InvalidRequestError: 'invalid_request',
  ApiError: 'api_error',
  PaymentNotFoundError: 'payment_not_found',
  ConnectionError: '',
  ResponseError: 'unreadable_response',
  DuplicateReferenceError: 'duplicate_reference',
  PaymentInDoubtError: 'payment_in_doubt',
  StoreError: 'store_failed',
  WaitTimeoutError: 'wait_timeout',
  ConfigurationError: 'configuration',
  WebhookError: '',
};

/** The answer to a callback, by its code. */
const ANSWERS: Record<WebhookErrorCode, number> = {
  not_json: 400,
  wrapped: 400,
  invalid: 400,
  too_large: 413,
  refused: 401,
  unsigned: 401,
  already_parsed: 503,
  unknown_payment: 503,
  lagging: 503,
  busy: 503,
  effect_uncertain: 503,
};

const WARNINGS: Record<WarningCode, true> = {
  create_not_recorded: true,
  create_mismatch: true,
  two_payments: true,
  stale_replay: true,
  sweep_gave_up: true,
  sweep_failed: true,
  payout_not_sent: true,
  upkeep_failed: true,
  upkeep_missing: true,
};
const CALLBACK_WARNINGS: Record<Extract<CallbackEvent, { type: 'warning' }>['code'], true> = {
  after_commit_failed: true,
};

const SANDBOX: Record<SandboxError['code'], true> = {
  unknown_payment: true,
  unknown_delivery: true,
  unknown_call: true,
  unknown_fault: true,
  unknown_scenario: true,
  final_state: true,
  refused: true,
  timeout: true,
};

/** The rows of the tables of a section, without their heads. */
const tablesOf = (heading: string): string[][][] =>
  (sectionOf(PAGE, heading).match(/(?:^\|.*\n)+/gm) ?? []).map(table => rowsOf(table).slice(1));

/** The codes in the first column of a table. */
const codesIn = (heading: string, nth = 0): string[] =>
  (tablesOf(heading)[nth] ?? []).flatMap(([first = '']) =>
    [...first.matchAll(/`(\w+)`/g)].map(([, code = '']) => code),
  );

describe('docs/errors.md', () => {
  it('has each class, with its code', () => {
    const classes = Object.values(sdk).filter(
      (value): value is typeof sdk.GatewayError =>
        typeof value === 'function' && value.prototype instanceof sdk.GatewayError,
    );
    expect(classes.map(({ name }) => name).toSorted()).toEqual(Object.keys(CLASSES).toSorted());
    const expected = Object.entries(CLASSES).flat().filter(Boolean);
    expect(codesIn('The classes').toSorted()).toEqual(expected.toSorted());
  });

  it.each([
    ['Codes of `WebhookError`', 0, ANSWERS],
    ['Warnings', 0, WARNINGS],
    ['Warnings', 1, CALLBACK_WARNINGS],
    ['Codes of `SandboxError`', 0, SANDBOX],
  ])('has all codes under %s (table %i)', (heading, nth, codes) => {
    expect(codesIn(heading, nth).toSorted()).toEqual(Object.keys(codes).toSorted());
  });

  it('has the codes of ConnectionError that are its own', () => {
    const own = ['timeout', 'aborted', 'fetch_failed'];
    expect(codesIn('Codes of `ConnectionError`')).toEqual(expect.arrayContaining(own));
  });

  it.each(Object.entries(ANSWERS))('has the answer to a callback that is %s: %i', (code, status) => {
    expect(endOf(new sdk.WebhookError(code as WebhookErrorCode, '')).response.status).toBe(status);
    const [row] = tablesOf('Codes of `WebhookError`')
      .flat()
      .filter(([first]) => first === `\`${code}\``);
    expect(row?.[1]).toBe(`${status}`);
  });

  it('has the statuses of a refusal', () => {
    const inWords = '400–406, 411, 413–415, 422, 429, 431';
    const listed = inWords.split(', ').flatMap(range => {
      const [from = 0, to = from] = range.split('–').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
    const statuses = Array.from({ length: 200 }, (_, index) => 400 + index);
    expect(statuses.filter(isRefusal)).toEqual([...listed, 451]);
    expect(textOf(PAGE)).toContain(`${inWords} and 451`);
    expect(textOf('docs/what-the-gateway-leaves-open.md')).toContain(`${inWords}, 451`);
  });
});
