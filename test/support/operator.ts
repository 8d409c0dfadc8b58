// A shop for the operator's command line: a journal in Postgres, a gateway over HTTP, and creates that end in doubt.
import { GatewayClient, type Journal, type WithdrawalRequest } from 'payment-gateway-sdk';
import { type PostgresJournalOptions, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { errorOf, PAYOUT } from './fixtures.ts';
import { postgresPool, uniqueName } from './stores.ts';

export const PAYOUT_77 = {
  paymentMethod: 'SEPA',
  amount: '120.00',
  currency: 'EUR',
  reference: 'payout-77',
  webhookUrl: 'https://shop.example/callbacks',
} as const satisfies WithdrawalRequest;

/** What a drain without anything to do says. */
export const NONE = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
/** A moment in a line of JSON. */
export const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

export const linesOf = (out: string) =>
  out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));

/** Opens it for all tests of a group; each of them has a table of its own. */
export class OperatedShop {
  readonly sandbox = new Sandbox({ fetch: async () => new Response() });
  pool!: pg.Pool;
  url!: string;
  table!: string;
  gateway!: GatewayClient;
  /** The environment of the command. */
  env!: Record<string, string>;

  constructor() {
    let server: { url: string; close(): Promise<void> };
    beforeAll(async () => {
      this.pool = postgresPool();
      server = await this.sandbox.listen();
      this.url = server.url;
    });
    afterAll(async () => {
      await this.pool.end();
      await server.close();
    });
    beforeEach(async () => {
      this.sandbox.reset();
      this.table = uniqueName('cli');
      const journal = postgresJournal(this.pool, { table: this.table, settleMargin: 0 });
      await journal.migrate();
      this.gateway = this.client({ journal });
      const { apiKey, signKey } = this.sandbox.clientOptions;
      this.env = {
        DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/test',
        PAYMENT_GATEWAY_URL: this.url,
        PAYMENT_GATEWAY_API_KEY: apiKey,
        PAYMENT_GATEWAY_SIGN_KEY: signKey,
        PAYMENT_GATEWAY_JOURNAL_TABLE: this.table,
        PAYMENT_GATEWAY_SETTLE_MARGIN: '0',
      };
      return () => this.pool.query(`drop table ${this.table}`);
    });
  }

  client(options: { journal?: Journal } = {}): GatewayClient {
    const { apiKey, signKey } = this.sandbox.clientOptions;
    return new GatewayClient({ apiKey, signKey, baseUrl: this.url, ...options });
  }

  /** A create whose answer is lost. @returns the payment's id, which nobody has told the shop */
  async doubt(changes: Partial<WithdrawalRequest> = {}): Promise<string> {
    this.sandbox.faults.next('commit-then-drop');
    await errorOf(this.gateway.createWithdrawal({ ...PAYOUT_77, ...changes }));
    return this.sandbox.payments.at(-1)?.id ?? '';
  }

  /** Time passes for all attempts, without a sleep. */
  async age(): Promise<void> {
    const day = "interval '1 day'";
    await this.pool.query(`update ${this.table} set begun_at = begun_at - ${day}, due_at = due_at - ${day}`);
  }

  /** Writes a payout down, in the scope eu. */
  async plan(reference: string, options: PostgresJournalOptions = {}): Promise<void> {
    const journal = postgresJournal(this.pool, { table: this.table, scope: 'eu', ...options });
    const client = await this.pool.connect();
    await client.query('begin');
    await journal.plan(client, { ...PAYOUT, paymentType: 'WITHDRAWAL', reference });
    await client.query('commit');
    client.release();
  }
}
