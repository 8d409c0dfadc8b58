// Reads everything that is sent to Postgres while the tests run: no store may write a field of a customer.
import pg from 'pg';
import { afterEach, expect } from 'vitest';

const FIELDS =
  /"(?:customer|billingAddress|additionalParameters|firstName|lastName|email|phone|ipaddress|dateOfBirth|referenceId|address1|city|postalCode|destination_wallet|description|errorMessage)\\*":/;

/** Files that share a process share the client of pg, and this comes before each of them. */
const shared = globalThis as { fieldsOfCustomers?: string[] };
const isFirst = !shared.fieldsOfCustomers;
shared.fieldsOfCustomers ??= [];
const found = shared.fieldsOfCustomers;

if (isFirst) {
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const text = JSON.stringify(args, (_name, value) => (typeof value === 'function' ? undefined : value)) ?? '';
    const [field] = FIELDS.exec(text.replaceAll('\\"', '"')) ?? [];
    if (field) found.push(`${field} in ${text.slice(0, 200)}`);
    return query.apply(this, args);
  } as never;
}

afterEach(() => {
  expect(found.splice(0)).toEqual([]);
});
