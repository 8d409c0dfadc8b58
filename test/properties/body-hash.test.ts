// One request is the same however it is written, and another one as soon as anything in it differs.
import fc from 'fast-check';
import {
  type Created,
  DuplicateReferenceError,
  type FetchInit,
  GatewayClient,
  memoryJournal,
  type PaymentRequest,
} from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import { further, paymentRequest, tries } from '../support/arbitraries.ts';
import { errorOf, KEYS } from '../support/fixtures.ts';
import { json } from '../support/wire.ts';

/** A client whose gateway takes everything, and its journal. */
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
  const gateway = new GatewayClient({ ...KEYS, terminal: 'onramp', fetch, journal: memoryJournal() });
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

const address = 'https://shop.example/another';
const map = { another: 1 };
/** What the request's own fields may hold instead, whatever they hold. */
const OTHERS: Record<string, unknown> = {
  ...{ currency: 'GBP', countryCode: 'FR', webhookUrl: address, callbackUrl: address, returnUrl: address },
  ...{ customer: map, billingAddress: { ...map, countryCode: 'FR' }, additionalParameters: map, browser: map },
};

const other = (name: string) => (leaf: unknown) => {
  if (name === 'amount') return `1${leaf}`;
  if (name in OTHERS) return OTHERS[name];
  if (typeof leaf === 'string') return `${leaf}x`;
  if (typeof leaf === 'number') return leaf === 7 ? 8 : 7;
  return typeof leaf === 'boolean' ? !leaf : 'x';
};

const wanted = fc
  .tuple(paymentRequest, fc.string())
  .map(([request, reference]) => ({ ...request, reference: `order ${reference}` }) as PaymentRequest<'onramp'>);

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
    fc.asyncProperty(wanted, further, fc.nat(), async (request, unknown, which) => {
      const create = openShop();
      const extra = { more: unknown };
      await create(request, extra);
      const whole = { request, extra };
      const leaves = leavesOf(whole).filter(
        ([, name]) => !['paymentType', 'paymentMethod', 'reference'].includes(String(name)),
      );
      const leaf = leaves[which % leaves.length] as Path;
      const [part, name, ...deeper] = leaf.map(String);
      changed.add(part === 'extra' ? part : (name as string));
      const isOwn = part === 'request' && (deeper.length === 0 || deeper[0] === 'countryCode');
      const another = changedAt(whole, leaf, other(isOwn ? String(leaf.at(-1)) : '')) as typeof whole;
      expect(await errorOf(create(another.request, another.extra))).toBeInstanceOf(DuplicateReferenceError);
      // And what was changed back is the first one again.
      expect(await create(request, extra)).toMatchObject({ replayed: true });
    }),
    tries(120),
  );
  expect(changed).toEqual(
    new Set([
      ...['extra', 'amount', 'currency', 'externalApiId', 'customer', 'billingAddress', 'additionalParameters'],
      ...['description', 'webhookUrl', 'callbackUrl', 'returnUrl', 'browser'],
    ]),
  );
});
