// Every event as a line of your log, with the level that it deserves.
import { type CallbackEvent, createWebhookHandler, GatewayClient, type GatewayEvent } from 'payment-gateway-sdk';
import pino from 'pino';

export const log = pino({ name: 'payments', level: process.env.LOG_LEVEL ?? 'info' });

/** A failed lookup is retried. After a create with the outcome `unknown`, an operator may have to act. */
function levelOf(event: GatewayEvent | CallbackEvent): 'error' | 'warn' | 'info' | 'debug' {
  if (event.type === 'failure') return event.outcome === 'unknown' ? 'error' : 'warn';
  if (event.type === 'warning' || event.type === 'review') return 'warn';
  // A refused callback may be forged, or genuine after a wrong setting.
  if (event.type === 'callback')
    return event.result === 'failed' ? 'error' : event.result === 'refused' ? 'warn' : 'info';
  return event.type === 'success' || event.type === 'store' ? 'info' : 'debug';
}

export const write = (event: GatewayEvent | CallbackEvent): void =>
  log[levelOf(event)](event, `${event.operation} ${event.type === 'callback' ? event.result : event.type}`);

export const gateway = new GatewayClient({ onEvent: write }); // with your store

export const handler = createWebhookHandler({
  gateway,
  onEvent: write,
  // The text of your own function's error appears only here.
  onError: error => log.error(error, 'callback not handled'),
  onPayment: payment => log.info({ paymentId: payment.id }, 'payment confirmed'),
});
