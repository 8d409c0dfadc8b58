// The tables of the soak's merchant, and what it asks of the gateway.
import pg from 'pg';
import { postgresInbox, postgresJournal } from '../../src/postgres/index.ts';

/** Milliseconds: of a client's call, and of the journal after that, until an operator may say that there is no payment. */
export const TIMEOUT = 3_000;
export const SETTLE_MARGIN = 10_000;

/** No key keeps a doubled effect out of `effects`: it is to be seen. */
export const SCHEMA = `
  create table wants (reference text primary key, way text not null, payment_type text not null, amount text not null,
    state text not null default 'open', looked_at timestamptz not null default now());
  create table effects (seq bigserial primary key, payment_id text not null, reference text, status text not null,
    amount numeric not null);
  create table told (reference text not null, payment_id text not null, primary key (reference, payment_id));`;

/** What the merchant wants to be paid, or to pay: one row for each reference. */
export interface Want {
  reference: string;
  /** Created at once by one process, by all of them at once, or planned with its order. */
  way: 'alone' | 'at once' | 'planned';
  payment_type: 'DEPOSIT' | 'WITHDRAWAL';
  amount: string;
  /** `created`: its payment is known. `refused`: the gateway has refused the request, and nobody tries again. */
  state: 'open' | 'created' | 'refused';
}

/** The same request each time. */
export const requestOf = ({ reference, payment_type, amount }: Pick<Want, 'reference' | 'payment_type' | 'amount'>) => {
  const common = { reference, amount, currency: 'EUR', webhookUrl: 'https://shop.example/callbacks' };
  return payment_type === 'DEPOSIT'
    ? ({ ...common, paymentType: 'DEPOSIT', paymentMethod: 'CARD' } as const)
    : ({ ...common, paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' } as const);
};

/** @param database that is the soak's own */
export function openShop(database: string, max: number) {
  // Kept once they are open: what runs beside the soak may have taken all others by then.
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database, max, idleTimeoutMillis: 0 });
  pool.on('error', () => {});
  const journal = postgresJournal(pool, { scope: 'soak', settleMargin: SETTLE_MARGIN });
  return { pool, journal, inbox: postgresInbox(pool) };
}
