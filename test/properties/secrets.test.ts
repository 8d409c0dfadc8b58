// No error, and no event, shows a key, a signature or what a customer entrusted to a shop, whatever it was made of.
// @module-tag long
import fc from 'fast-check';
import { GatewayClient, type GatewayEvent, isGatewayError, memoryStore, parseWebhook } from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import type { FetchInit } from '../../src/http/own-fetch.ts';
import { CARD, errorOf, ID, KEYS } from '../support/fixtures.ts';
import { everythingIn } from '../support/printed.ts';
import { json } from '../support/wire.ts';
import { tries, word } from './arbitraries.ts';

/** What nothing else is like. */
const secret = fc.stringMatching(/^[A-Za-z\d_]{16,24}$/);

/** Where something of the request stands in what went wrong: its text is put in place of the mark. */
const MARK = '<secret>';

const codes = fc.oneof(
  fc.constantFrom(undefined, MARK),
  word('ECONNREFUSED ECONNRESET UND_ERR_SOCKET ERR_TLS_HANDSHAKE CERT_HAS_EXPIRED ERR_WRAPPER'),
);
const textWithMark = fc.constantFrom(
  MARK,
  `sent ${MARK} in vain`,
  `{"a":"${MARK}"}`,
  `x\n    at ${MARK} (/shop/${MARK}.js:1:1)`,
);
const details = fc.record(
  {
    code: codes,
    syscall: fc.constantFrom('connect', 'read', MARK),
    ...{ hostname: textWithMark, address: textWithMark, port: fc.oneof(fc.nat(65_535), textWithMark) },
    ...{ name: fc.constantFrom('TypeError', MARK), stack: textWithMark, config: fc.record({ headers: textWithMark }) },
  },
  { requiredKeys: [] },
);

/** How to make an error of a text. */
type Making = (put: (text: unknown) => unknown) => unknown;

const { making } = fc.letrec<{ making: Making }>(tie => ({
  making: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(textWithMark, details).map(
      ([message, own]): Making =>
        put =>
          Object.assign(new Error(String(put(message))), put(own)),
    ),
    textWithMark.map(
      (message): Making =>
        put =>
          put(message),
    ),
    fc.tuple(tie('making'), textWithMark, details).map(
      ([cause, message, own]): Making =>
        put =>
          Object.assign(new TypeError(String(put(message)), { cause: cause(put) }), put(own)),
    ),
    fc.tuple(fc.array(tie('making'), { minLength: 1, maxLength: 3 }), textWithMark, details).map(
      ([errors, message, own]): Making =>
        put =>
          Object.assign(
            new AggregateError(
              errors.map(make => make(put)),
              String(put(message)),
            ),
            put(own),
          ),
    ),
  ),
}));

/** What the gateway answers, or what a merchant's own fetch throws. */
const fate = fc.oneof(
  making.map(make => ({ make })),
  fc.record({
    status: fc.constantFrom(200, 201, 400, 401, 404, 422, 429, 500, 503),
    body: fc.oneof(textWithMark, fc.constant(`{"result":{"id":"${ID}","amount":"${MARK}"}}`)),
  }),
);

const customerOf = (word: string) => ({
  customer: { firstName: word, email: `${word}@customer.example`, [word]: word },
  billingAddress: { address1: word, countryCode: 'PL' },
  additionalParameters: { iban: word, nested: { [word]: [word] } },
  description: word,
});

it('errors printed by any means hold no secret, and neither do events', async () => {
  const names = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      secret,
      secret,
      secret,
      fate,
      fc.constantFrom('key', 'customer'),
      fc.boolean(),
      async (apiKey, signKey, word, fate, of, hasStore) => {
        let signature = 'none';
        const events: GatewayEvent[] = [];
        const fetch = async (_: string, { headers, body }: FetchInit) => {
          const own = new Headers(headers).get('signature');
          signature = own ?? signature;
          const sent =
            of === 'key' ? `${JSON.stringify(headers)} ${apiKey} ${own}` : `${Buffer.from(body ?? [])} ${word}`;
          const put = (value: unknown): unknown => {
            // Details of the system name no customer. A key is struck even there.
            const text = of === 'key' && value === MARK ? apiKey : sent;
            return typeof value === 'string'
              ? value.replaceAll(MARK, () => text)
              : value && typeof value === 'object'
                ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, put(part)]))
                : value;
          };
          if ('make' in fate) throw fate.make(of === 'key' ? put : value => withoutCode(put(value)));
          return json(String(put(fate.body)), fate.status);
        };
        const gateway = new GatewayClient({
          ...{
            baseUrl: KEYS.baseUrl,
            apiKey,
            signKey,
            fetch,
            retries: 0,
            timeout: 200,
            onEvent: event => events.push(event),
          },
          ...(hasStore && { store: memoryStore() }),
        });
        const request = { ...CARD, ...customerOf(word), reference: 'order-1' };
        const calls: (() => unknown)[] = [
          () => gateway.createDeposit(request),
          () => gateway.createDeposit({ ...request, description: `${word}!` }),
          () => gateway.createDeposit({ ...request, amount: `${word}` }),
          () => gateway.getPayment(ID),
          () => gateway.getPayment(word),
          () => gateway.waitForPayment(ID, { timeout: 1 }),
          () => parseWebhook({ ...customerOf(word), id: ID, amount: word }),
          () => parseWebhook(word),
          () => new GatewayClient({ ...KEYS, apiKey: `${apiKey}\n`, signKey }),
        ];
        for (const call of calls) {
          const error = await errorOf((async () => call())().then(() => Promise.reject(undefined)));
          if (error === undefined) continue;
          expect(isGatewayError(error), String(error)).toBe(true);
          names.add((error as Error).name);
          expectNone(everythingIn(error), [apiKey, signKey, signature, word]);
        }
        expectNone(everythingIn(events), [apiKey, signKey, signature, word]);
      },
    ),
    tries(12),
  );
  expect(names.size).toBeGreaterThan(7);
});

/** An error that says it comes from the system shows its words. */
const withoutCode = (value: unknown): unknown =>
  value && typeof value === 'object' && 'code' in value ? { ...value, code: 'ERR_WRAPPER' } : value;

function expectNone(text: string, secrets: readonly string[]): void {
  const found = secrets.filter(each => text.includes(each));
  if (found.length > 0)
    expect(text.slice(Math.max(text.indexOf(found[0] as string) - 200, 0)).slice(0, 500)).toBe('without it');
}
