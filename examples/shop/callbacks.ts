// Handles callbacks: a payment credits its order and owes the grower's share once, in the inbox's transaction.
import { createWebhookHandler, type GatewayClient, isFinal, isPaid } from 'payment-gateway-sdk';
import { fromDrizzle, postgresInbox } from 'payment-gateway-sdk/postgres';
import { money, PRODUCTS } from './catalogue.ts';
import type { Database } from './database.ts';
import { creditOrder, isKnown, listToCheck, type Order } from './orders.ts';
import type { Payouts } from './payouts.ts';

export async function openCallbacks(db: Database, gateway: GatewayClient, payouts: Payouts) {
  const inbox = postgresInbox(fromDrizzle(db));
  await inbox.migrate();
  return createWebhookHandler({
    gateway,
    inbox,
    onPayment: async (payment, { tx, afterCommit }) => {
      // The gateway's document does not have this status, for example of a refund.
      if (payment.paymentStatus === 'UNKNOWN') return listToCheck(tx, payment);
      if (payment.paymentType === 'WITHDRAWAL') {
        if (isFinal(payment) && !(await payouts.record(tx, payment))) await listToCheck(tx, payment);
        return;
      }
      if (!isPaid(payment)) {
        // A chargeback, or a correction of the gateway.
        if (isFinal(payment) && (await isKnown(tx, payment))) await listToCheck(tx, payment);
        return;
      }
      const order = await creditOrder(tx, payment);
      if (!order) return listToCheck(tx, payment);
      await payouts.oweShare(tx, order);
      afterCommit(() => sendReceipt(order));
    },
    onError: error => console.error(error),
  });
}

/** Replace this with your e-mail. */
function sendReceipt({ id, product, amount, currency }: Order): void {
  console.log(`Receipt of order ${id}: ${PRODUCTS[product].name}, ${money(amount, currency)}.`);
}
