// The tables of the soak's merchant, and its requests.
import pg from 'pg';
import { postgresStore } from '../../src/postgres/index.ts';

/** Milliseconds: a call's timeout, and the time after it until an operator may settle a create as not created. */
export const TIMEOUT = 3_000;
export const SETTLE_MARGIN = 10_000;

/** Without unique keys on `effects`, because the judge must see a doubled effect. */
export const SCHEMA = `
  create table orders (id text primary key, way text not null, amount text not null, state text not null default 'open',
    looked_at timestamptz not null default now());
  create table payouts (id text primary key, amount text not null, state text not null default 'open',
    looked_at timestamptz not null default now());
  create table effects (seq bigserial primary key, what text not null, owner text not null, payment_id text not null,
    amount text not null);`;

/** A row of `orders`. The customer clicks as long as it is open. */
export interface ShopOrder {
  id: string;
  /** `alone`: one process clicks first. `at once`: all processes click in the same moment. */
  way: 'alone' | 'at once';
  amount: string;
  state: 'open' | 'paid' | 'canceled' | 'review';
}

/** A row of `payouts`. Its id is its reference. */
export interface ShopPayout {
  id: string;
  amount: string;
  state: 'open' | 'created';
}

/** A row of `effects`. */
export interface Effect {
  what: 'paid' | 'reversed' | 'paid_out' | 'payout_failed' | 'taken_back';
  /** An order's id, or a payout's. */
  owner: string;
  payment_id: string;
  amount: string;
}

/** The customer sometimes changes the basket: the other price of an order. */
export const otherPrice = (amount: string): string => (Number(amount) + 7).toFixed(2);

const webhookUrl = 'https://shop.example/callbacks';
export const checkoutOf = (amount: string, paymentMethod: 'CARD' | 'GOOGLEPAY') =>
  ({ paymentMethod, amount, currency: 'EUR', webhookUrl }) as const;
export const payoutOf = ({ id, amount }: Pick<ShopPayout, 'id' | 'amount'>) =>
  ({ reference: id, paymentMethod: 'SEPA', amount, currency: 'EUR', webhookUrl }) as const;

/** @param database the soak's own */
export function openShop(database: string, max: number) {
  // Idle connections stay open, because other programs may take all others.
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database, max, idleTimeoutMillis: 0 });
  pool.on('error', () => {});
  return { pool, store: postgresStore(pool, { scope: 'soak', settleMargin: SETTLE_MARGIN }) };
}
