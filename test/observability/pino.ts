// Every event as a line of your log, with the level that it deserves.
import { type CallbackEvent, createWebhookHandler, GatewayClient, type GatewayEvent } from 'payment-gateway-sdk';
import pino from 'pino';

export const log = pino({ name: 'payments', level: process.env.LOG_LEVEL ?? 'info' });

/** A failed lookup can be repeated; after a create with the outcome `unknown` somebody may have to look. */
function levelOf(event: GatewayEvent | CallbackEvent): 'error' | 'warn' | 'info' | 'debug' {
  if (event.type === 'failure') return event.outcome === 'unknown' ? 'error' : 'warn';
  if (event.type === 'warning') return 'warn';
  // Refused ones may be forged, or all genuine ones after a wrong setting.
  if (event.type === 'callback')
    return event.result === 'failed' ? 'error' : event.result === 'refused' ? 'warn' : 'info';
  return event.type === 'success' || event.type === 'journal' ? 'info' : 'debug';
}

export const write = (event: GatewayEvent | CallbackEvent): void =>
  log[levelOf(event)](event, `${event.operation} ${event.type === 'callback' ? event.result : event.type}`);

export const gateway = new GatewayClient({ onEvent: write }); // with your journal

export const handler = createWebhookHandler({
  gateway,
  onEvent: write,
  // An error of your own onPayment has its words here, and nowhere else.
  onError: error => log.error(error, 'callback not handled'),
  onPayment: payment => log.info({ paymentId: payment.id }, 'payment confirmed'),
});
