// Small parts of the sandbox, each for itself: times, searches, the environment, names of scenarios, foreign pages, the clock.
import { SandboxError } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isForeign } from '../../src/sandbox/api/origin.ts';
import { Clock } from '../../src/sandbox/clock.ts';
import { durationOf } from '../../src/sandbox/duration.ts';
import { environmentOf } from '../../src/sandbox/environment.ts';
import { randomOf } from '../../src/sandbox/ledger/ids.ts';
import { matcherOf } from '../../src/sandbox/ledger/query.ts';
import { doesOf, SCENARIO_NAMES, textOf } from '../../src/sandbox/scenarios/library.ts';

describe('a time as people write it', () => {
  it.each<[string | number, number | undefined]>([
    ['500ms', 500],
    ['500', 500],
    [500, 500],
    ['5s', 5_000],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['1.5s', 1_500],
    ['12.25s', 12_250],
    ['0', 0],
    ['2147483647', 2_147_483_647],
    ['2147483648', undefined],
    ['25d', undefined],
    ['', undefined],
    ['s', undefined],
    ['.5s', undefined],
    ['5.s', undefined],
    ['-5s', undefined],
    ['5w', undefined],
    ['5 s', undefined],
    ['x5s', undefined],
    ['5sx', undefined],
  ])('%j is %j ms', (written, ms) => {
    expect(durationOf(written)).toBe(ms);
  });
});

it('chance is that of a seed, and without one of nobody', () => {
  expect(randomOf(undefined)).toBe(Math.random);
  const [one, same, other] = ['a', 'a', 'b'].map(randomOf).map(next => [next(), next(), next()]);
  expect(one).toEqual(same);
  expect(one).not.toEqual(other);
  for (const number of one ?? []) expect(number >= 0 && number < 1).toBe(true);
});

describe('a search', () => {
  const record = {
    ...{ id: 'ABC-1', reference: 'Order-1', description: 'Blue lamp', amount: 25.5, currency: 'EUR' },
    ...{ paymentStatus: 'PENDING', paymentType: 'DEPOSIT', paymentMethod: 'CARD' },
    customer: { email: 'zoe@customer.example', phone: '0170' },
  };
  it.each<[object, boolean]>([
    [{}, true],
    [{ search: '' }, true],
    [{ search: '  ' }, true],
    [{ search: 'abc' }, true],
    [{ search: ' ORDER ' }, true],
    [{ search: 'blue LAMP' }, true],
    [{ search: '25.5 eur' }, true],
    [{ search: 'customer.example' }, true],
    [{ search: '0170' }, false],
    [{ search: 'PENDING' }, false],
    [{ paymentStatus: 'PENDING', currency: 'EUR' }, true],
    [{ paymentStatus: 'PENDING', currency: 'USD' }, false],
    [{ paymentStatus: undefined, currency: 'EUR' }, true],
    [{ reference: 'Order-1' }, true],
    [{ reference: 'Order' }, false],
    [{ search: 'blue', paymentType: 'WITHDRAWAL' }, false],
    [{ search: 'red', paymentType: 'DEPOSIT' }, false],
  ])('for %j finds a payment that has it: %s', (query, isFound) => {
    expect(matcherOf(query)(record as never)).toBe(isFound);
  });

  it.each([{}, { reference: null, description: null, customer: null }, { customer: { email: 7 } }])(
    'finds nothing in what a payment has not: %j',
    fields => {
      const bare = { id: 'ABC-1', amount: 1, currency: 'EUR', ...fields } as never;
      for (const search of ['null', 'undefined', 'stryker', '7']) expect(matcherOf({ search })(bare)).toBe(false);
    },
  );
});

it.each([
  ['plain-key_1./+=:@', 'plain-key_1./+=:@'],
  ['two words', "'two words'"],
  ['a$b', "'a$b'"],
  ['#', "'#'"],
  ['x#', "'x#'"],
  ['', ''],
])('the key %j stands as %s in an environment', (key, written) => {
  expect(environmentOf('http://127.0.0.1:4010', { apiKey: key, signKey: key })).toEqual([
    'PAYMENT_GATEWAY_URL=http://127.0.0.1:4010',
    `PAYMENT_GATEWAY_API_KEY=${written}`,
    `PAYMENT_GATEWAY_SIGN_KEY=${written}`,
  ]);
});

describe('the name of a scenario', () => {
  it('finds its file, and says what that does', () => {
    expect(textOf('deposit-completed')).toMatch(/^does: /);
    expect(doesOf('does: A card is declined.\ncreate: x')).toBe('A card is declined.');
    expect(doesOf('# of ours\ndoes: A card is declined.')).toBe('A card is declined.');
    expect(doesOf('it does: nothing')).toBe('');
    expect(doesOf('create: x')).toBe('');
  });

  it.each([
    ['deposit-complete', 'No scenario is called "deposit-complete". Did you mean deposit-completed?'],
    ['zzz', `No scenario is called "zzz". There are: ${SCENARIO_NAMES.join(', ')}.`],
    ['toString', expect.stringMatching(/^No scenario is called "toString"\. /)],
  ])('%s is refused, with the names that there are', (name, message) => {
    expect(() => textOf(name)).toThrow(expect.objectContaining({ code: 'unknown_scenario', message }));
  });
});

it.each<[Record<string, string>, boolean]>([
  [{ host: 'localhost:1' }, false],
  [{ host: 'localhost:1', origin: 'http://localhost:1' }, false],
  [{ host: 'localhost:1', origin: 'https://localhost:1' }, true],
  [{ host: 'localhost:1', origin: 'http://evil.example' }, true],
  [{ host: 'localhost:1', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' }, false],
  [{ host: 'localhost:1', 'sec-fetch-site': 'none' }, false],
  [{ host: 'localhost:1', 'sec-fetch-site': 'cross-site' }, true],
  [{ host: 'localhost:1', 'sec-fetch-site': 'same-site' }, true],
])('a request with %j is of a foreign page: %s', (headers, expected) => {
  expect(isForeign(new Headers(headers))).toBe(expected);
});

describe('the clock', () => {
  afterEach(() => void vi.useRealTimers());

  const LATEST = Date.UTC(10_000, 0, 1) - 1;
  function open() {
    vi.useFakeTimers({ now: 1_000_000 });
    const moved: number[] = [];
    const clock = new Clock(Date.now, offset => void moved.push(offset));
    return { clock, moved };
  }

  it.each([-1, Number.NaN])('refuses to be advanced by %d ms, and stays as it is', ms => {
    const { clock, moved } = open();
    expect(() => clock.advance(ms)).toThrow(
      new SandboxError('refused', 'A clock is advanced by milliseconds, 0 or more.'),
    );
    expect([clock.offset, moved]).toEqual([0, []]);
  });

  it.each([-1, Number.NaN, LATEST + 1])('refuses to be set to %d, and stays as it is', at => {
    const { clock, moved } = open();
    expect(() => clock.set(at)).toThrow(
      new SandboxError('refused', 'A clock is set to milliseconds since 1970, up to the year 9999.'),
    );
    expect([clock.offset, moved]).toEqual([0, []]);
  });

  it('is advanced by nothing, set to the first and the last time, and tells how far it was moved', () => {
    const { clock, moved } = open();
    clock.advance(0);
    clock.set(0);
    expect(clock.now()).toBe(0);
    clock.set(LATEST);
    expect(clock.now()).toBe(LATEST);
    expect(moved).toEqual([0, -1_000_000, LATEST - 1_000_000]);
    clock.shift(5);
    expect([clock.now(), clock.offset]).toEqual([1_000_005, 5]);
  });

  it('wakes what waits at its time, by itself or as it is moved, and once', () => {
    const { clock } = open();
    const woken: string[] = [];
    clock.after(1_000, () => woken.push('a'));
    clock.after(5_000, () => woken.push('b'));
    const giveUp = clock.after(5_000, () => woken.push('never'));
    giveUp();
    vi.advanceTimersByTime(999);
    expect(woken).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(woken).toEqual(['a']);
    clock.advance(3_999);
    vi.advanceTimersByTime(0);
    expect(woken).toEqual(['a']);
    clock.set(clock.now() - 1_000);
    vi.advanceTimersByTime(1_000);
    expect(woken).toEqual(['a']);
    clock.advance(1);
    vi.advanceTimersByTime(0);
    expect(woken).toEqual(['a', 'b']);
    clock.advance(100_000);
    vi.advanceTimersByTime(100_000);
    expect(woken).toEqual(['a', 'b']);
    expect(vi.getTimerCount()).toBe(0);
  });
});
