// A payout that is owed is made, whatever crashes: it is written down in the transaction that owes it, and sent after that.
import { createWebhookHandler, GatewayClient, isFinal } from 'payment-gateway-sdk';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import pg from 'pg';

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
export const journal = postgresJournal(pool, { scope: 'eu-terminal' });
export const inbox = postgresInbox(pool);

// PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY and PAYMENT_GATEWAY_SIGN_KEY come from the environment.
export const gateway = new GatewayClient({ journal });

export const handler = createWebhookHandler({
  gateway,
  inbox,
  onPayment: async (payment, { tx }) => {
    if (payment.paymentType !== 'WITHDRAWAL' || !isFinal(payment)) return;
    await tx.query('update payouts set status = $2 where reference = $1', [payment.reference, payment.paymentStatus]);
  },
});

/** Owes the payout, and plans its create: both, or neither. `npx payment-gateway-sdk drain --app` this module sends it. */
export async function payOut(reference: string, amount: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('insert into payouts (reference, amount) values ($1, $2)', [reference, amount]);
    await journal.plan(client, {
      paymentType: 'WITHDRAWAL',
      paymentMethod: 'SEPA',
      amount,
      currency: 'EUR',
      reference,
      webhookUrl: 'https://shop.example/callbacks',
    });
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

/** For the commands. */
export const close = () => pool.end();
