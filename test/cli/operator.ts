// A shop for the operator's command line: a store in Postgres, a gateway over HTTP, and creates that end in doubt.
import { createWebhookHandler, GatewayClient, type Store, type WithdrawalRequest } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { errorOf, PAYOUT } from '../support/fixtures.ts';
import { inTransaction, openPostgresStore } from '../support/stores.ts';

export const PAYOUT_77 = { ...PAYOUT, amount: '120.00', reference: 'payout-77' } satisfies WithdrawalRequest;

/** A moment in a line of JSON. */
export const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

/** Opens it for all tests of a group. Each test has its own table. */
export class OperatedShop {
  readonly sandbox = new Sandbox({ fetch: async () => new Response() });
  pool!: pg.Pool;
  url!: string;
  tablePrefix!: string;
  gateway!: GatewayClient<'standard', pg.PoolClient>;
  /** The environment of the command. */
  env!: Record<string, string>;
  #opened!: Awaited<ReturnType<typeof openPostgresStore>>;

  constructor() {
    let server: { url: string; close(): Promise<void> };
    beforeAll(async () => {
      server = await this.sandbox.listen();
      this.url = server.url;
    });
    afterAll(() => server.close());
    beforeEach(async () => {
      this.sandbox.reset();
      this.#opened = await openPostgresStore({ scope: 'eu' });
      const { pool, tablePrefix, storeOf } = this.#opened;
      Object.assign(this, { pool, tablePrefix });
      this.gateway = this.client(storeOf(pool, { settleMargin: 0 })) as typeof this.gateway;
      const { apiKey, signKey } = this.sandbox.clientOptions;
      this.env = {
        DATABASE_URL: 'postgres://postgres@127.0.0.1:5432/test',
        PAYMENT_GATEWAY_URL: this.url,
        PAYMENT_GATEWAY_API_KEY: apiKey,
        PAYMENT_GATEWAY_SIGN_KEY: signKey,
        PAYMENT_GATEWAY_SCOPE: 'eu',
        PAYMENT_GATEWAY_TABLE_PREFIX: tablePrefix,
        PAYMENT_GATEWAY_SETTLE_MARGIN: '0',
      };
    });
    afterEach(() => this.#opened.close());
  }

  client(store?: object): GatewayClient {
    const { apiKey, signKey } = this.sandbox.clientOptions;
    return new GatewayClient({ apiKey, signKey, baseUrl: this.url, ...(store && { store: store as Store }) });
  }

  /** A create whose answer is lost. @returns the payment's id, which the shop does not know */
  async doubt(changes: Partial<WithdrawalRequest> = {}): Promise<string> {
    this.sandbox.faults.next('commit-then-drop');
    await errorOf(this.gateway.createWithdrawal({ ...PAYOUT_77, ...changes }));
    return this.sandbox.payments.at(-1)?.id ?? '';
  }

  /** A paid payment that no create has made. @returns its id */
  async review(): Promise<string> {
    const { payment } = await this.client().createDeposit({ ...PAYOUT_77, paymentMethod: 'CARD', reference: 'stray' });
    await this.sandbox.complete(payment.id);
    const handler = createWebhookHandler({ gateway: this.gateway, onPaid: () => {} });
    const body = JSON.stringify({ ...payment, paymentStatus: 'COMPLETED' });
    const { status } = await handler(new Request('https://shop.example/callbacks', { method: 'POST', body }));
    expect(status).toBe(200);
    return payment.id;
  }

  /** A day passes for all creates. */
  async age(): Promise<void> {
    const times = ['begun_at', 'due_at', 'leased_until'].map(time => `${time} = ${time} - interval '1 day'`);
    await this.pool.query(`update ${this.#opened.table} set ${times}`);
  }

  async plan(reference: string): Promise<void> {
    await inTransaction(this.pool, client => this.gateway.payOut(client, { ...PAYOUT, reference }));
    // The scope is bound in the background.
    await this.gateway.find(reference);
  }
}
