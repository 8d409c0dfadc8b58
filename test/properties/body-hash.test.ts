// One request is the same however it is written, and another one as soon as anything in it differs.
// @module-tag long
import fc from 'fast-check';
import {
  type Created,
  DuplicateReferenceError,
  GatewayClient,
  memoryStore,
  type PaymentRequest,
} from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import type { FetchInit } from '../../src/http/own-fetch.ts';
import { errorOf, KEYS } from '../support/fixtures.ts';
import { json } from '../support/wire.ts';
import { amount, currency, further, httpUrl, paymentRequest, text, tries } from './arbitraries.ts';

/** A client whose gateway takes everything, and its store. */
function openShop() {
  let payments = 0;
  const fetch = async (_: string, init: FetchInit) => {
    const { paymentType, paymentMethod, amount, currency, reference } = JSON.parse(
      Buffer.from(init.body ?? []).toString(),
    );
    const id = `7b1f3c52-9a1e-4a7b-8d43-${String(++payments).padStart(12, '0')}`;
    const record = { id, paymentStatus: 'COMPLETED', paymentType, paymentMethod, amount, currency, reference };
    return json(JSON.stringify({ result: record }), 201);
  };
  const gateway = new GatewayClient({ ...KEYS, terminal: 'onramp', fetch, store: memoryStore() });
  return (request: object, extra: object) =>
    (gateway.createPayment as (request: unknown, options: object) => Promise<Created>)(request, { extra });
}

/** The keys of every map in it, the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([name, part]) => [name, reversed(part)]));
}

/** Another way to write an amount. */
const padded = (amount: string | number) => {
  const text = String(amount);
  return text.includes('.') ? `${text}00` : `${text}.00`;
};

type Path = (string | number)[];

/** Where the leaves are: whatever is no map and no list with something in it, and is written as JSON. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (value === undefined) return [];
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return entries.length === 0 ? [path] : entries.flatMap(([name, part]) => leavesOf(part, [...path, name]));
}

/** The same with something else at one place. */
function changedAt(value: unknown, [name, ...rest]: Path, change: (leaf: unknown) => unknown): unknown {
  if (name === undefined) return change(value);
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[name] = changedAt(copy[name], rest, change);
  return copy;
}

const map = fc.dictionary(fc.stringMatching(/^x[a-z]{1,5}$/), fc.jsonValue({ maxDepth: 1 }), {
  minKeys: 1,
  maxKeys: 2,
});
const note = fc.oneof(text, fc.constant(null));
/** What the request's own fields may hold instead. */
const OTHERS: Record<string, fc.Arbitrary<unknown>> = {
  ...{ amount, currency, countryCode: fc.stringMatching(/^[A-Z]{2}$/) },
  ...{ webhookUrl: httpUrl, callbackUrl: httpUrl, returnUrl: httpUrl, externalApiId: note, description: note },
  ...{ customer: map, additionalParameters: map, browser: map },
  billingAddress: map.map(own => ({ ...own, countryCode: 'FR' })),
};
/** What anything else may hold instead. */
const anything = fc.jsonValue({ maxDepth: 1 });

/** As the gateway reads it: amounts are numbers to it, and -0 is 0. */
const meaning = (name: string, leaf: unknown) =>
  name === 'amount'
    ? String(leaf)
        .replace(/^0+(?=\d)/, '')
        .replace(/(\.\d*?)0*$/, '$1')
        .replace(/\.$/, '')
    : JSON.stringify(leaf);

const wanted = fc
  .tuple(paymentRequest, fc.string())
  .map(([request, reference]) => ({ ...request, reference: `order ${reference}` }) as PaymentRequest);

it('the hash of a body survives reordered keys and 25.5 against 25.50', async () => {
  await fc.assert(
    fc.asyncProperty(wanted, further, async (request, unknown) => {
      const create = openShop();
      const extra = { more: unknown };
      const { payment } = await create(request, extra);
      const rewritten = { ...(reversed(request) as object), amount: padded(request.amount) };
      const again = await create(rewritten, reversed(extra) as object);
      expect([again.replayed, again.payment.id]).toEqual([true, payment.id]);
    }),
    tries(40),
  );
});

it('the hash of a body changes with any leaf', async () => {
  const changed = new Set<string>();
  await fc.assert(
    fc.asyncProperty(wanted, further, fc.nat(), fc.gen(), async (request, unknown, which, generate) => {
      const create = openShop();
      const extra = { more: unknown };
      await create(request, extra);
      const whole = { request, extra };
      const leaves = leavesOf(whole).filter(
        ([, name]) => !['paymentType', 'paymentMethod', 'reference'].includes(String(name)),
      );
      const fieldOf = ([part, name]: Path) => String(part === 'extra' ? part : name);
      const fields = [...new Set(leaves.map(fieldOf))];
      const field = fields[which % fields.length] as string;
      changed.add(field);
      const itsLeaves = leaves.filter(path => fieldOf(path) === field);
      const leaf = itsLeaves[which % itsLeaves.length] as Path;
      const [part, name, ...deeper] = leaf.map(String);
      const isOwn = part === 'request' && (deeper.length === 0 || deeper[0] === 'countryCode');
      const last = isOwn ? String(leaf.at(-1)) : '';
      // A customer's and an address's own fields are texts.
      const isText = part === 'request' && ['customer', 'billingAddress'].includes(name as string);
      const others = OTHERS[last] ?? (isText ? text : anything);
      const another = changedAt(whole, leaf, old => {
        const isOther = (value: unknown) => meaning(last, value) !== meaning(last, old);
        return generate(() => others.filter(isOther));
      }) as typeof whole;
      expect(await errorOf(create(another.request, another.extra))).toBeInstanceOf(DuplicateReferenceError);
      // And what was changed back is the first one again.
      expect(await create(request, extra)).toMatchObject({ replayed: true });
    }),
    tries(40),
  );
  expect(changed).toEqual(
    new Set([
      ...['extra', 'amount', 'currency', 'externalApiId', 'customer', 'billingAddress', 'additionalParameters'],
      ...['description', 'webhookUrl', 'callbackUrl', 'returnUrl', 'browser'],
    ]),
  );
});
