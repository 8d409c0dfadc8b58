// The checkout: each attempt to pay an order has its own reference, and the next one begins only after a decline.
import { Hono } from 'hono';
import {
  type GatewayClient,
  isFinal,
  isGatewayError,
  isPaid,
  type NextAction,
  type WebhookHandler,
} from 'payment-gateway-sdk';
import { isCurrency, isMethod, isProduct, type Method, methodsOf, PRODUCTS } from './catalogue.ts';
import type { Database } from './database.ts';
import { findOrder, nextAttempt, type Order, placeOrder, referenceOf } from './orders.ts';
import { orderPage, problemPage, productsPage } from './pages.ts';

/** The state of an order that a customer needs to know. */
export type OrderState =
  | { is: 'paid' | 'booking' | 'open' | 'declined' | 'checking' | 'lost' | 'refused' }
  | { is: 'pending'; nextAction: NextAction };

const KEY = ':key{[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}}';

export function openCheckout(db: Database, gateway: GatewayClient, callbacks: WebhookHandler, shopUrl: string) {
  // All fields stay the same during an attempt, because the journal refuses a different request with its reference.
  const create = (order: Order) =>
    gateway.createDeposit({
      paymentMethod: order.method,
      amount: order.amount,
      currency: order.currency,
      reference: referenceOf(order),
      description: PRODUCTS[order.product].name,
      webhookUrl: `${shopUrl}/callbacks`,
      returnUrl: `${shopUrl}/orders/${order.key}`,
    });

  /**
   * Pays the order when the customer presses "pay", also again.
   *
   * @param method of the next attempt, if this one was declined
   * @returns the next action, or undefined if the order's page shows it
   */
  async function pay(key: string, method: Method): Promise<NextAction | undefined> {
    for (let hasTried = false; ; hasTried = true) {
      const order = await findOrder(db, key);
      if (!order || order.paidBy) return undefined;
      const before = (await gateway.find(referenceOf(order)))?.payment;
      const { payment, nextAction } = await create(order);
      if (isPaid(payment)) return undefined; // its callback is on the way
      if (!isFinal(payment)) return nextAction; // the same for a returning customer
      // Declined by this click, or by a concurrent one: the customer decides about another attempt.
      if (!before || hasTried) return undefined;
      await nextAttempt(db, order, method);
    }
  }

  /** Returns the state of an order. It only sends a lookup, however often the customer looks. */
  async function stateOf(order: Order): Promise<OrderState> {
    if (order.paidBy) return { is: 'paid' };
    const entry = await gateway.find(referenceOf(order));
    if (!entry || entry.state === 'freed') return { is: 'open' };
    const { paymentId, nextAction = { type: 'wait' } } = entry;
    if (entry.state !== 'created' || !paymentId) return { is: 'checking' };
    // If the gateway is unreachable, use the last known state.
    const payment = await gateway.getPayment(paymentId).catch(() => entry.payment);
    if (!payment) return { is: 'checking' };
    if (isPaid(payment)) {
      // Applies the payment now, as its callback would, because that may be late or lost. It takes effect once.
      await callbacks.process(payment.id).catch(console.error);
      return { is: 'booking' };
    }
    if (isFinal(payment)) return { is: 'declined' };
    if (payment.paymentStatus === 'UNKNOWN') return { is: 'checking' };
    // Only the answer to the create has the link, and that answer was lost.
    const isLost = payment.paymentStatus === 'PENDING' && nextAction.type === 'wait';
    return isLost ? { is: 'lost' } : { is: 'pending', nextAction };
  }

  const app = new Hono();

  app.get('/', c => {
    const currency = c.req.query('currency');
    return c.html(productsPage(isCurrency(currency) ? currency : 'EUR'));
  });

  app.post('/orders', async c => {
    const form = await c.req.formData();
    const [product, currency, method] = [form.get('product'), form.get('currency'), form.get('method')];
    if (!isProduct(product) || !isCurrency(currency) || !isMethod(method) || !methodsOf(currency).includes(method)) {
      return c.html(problemPage('Choose a tea, and how to pay.'), 422);
    }
    const key = await placeOrder(db, product, currency, method);
    return c.redirect(await next(key, method), 303);
  });

  app.get(`/orders/${KEY}`, async c => {
    const order = await findOrder(db, c.req.param('key'));
    if (!order) return c.html(problemPage('There is no such order.'), 404);
    const isRefused = c.req.query('refused') !== undefined;
    const state = await stateOf(order);
    return c.html(orderPage(order, state.is === 'open' && isRefused ? { is: 'refused' } : state));
  });

  app.post(`/orders/${KEY}/pay`, async c => {
    const order = await findOrder(db, c.req.param('key'));
    if (!order) return c.html(problemPage('There is no such order.'), 404);
    const method = (await c.req.formData()).get('method');
    const isOffered = isMethod(method) && methodsOf(order.currency).includes(method);
    return c.redirect(await next(order.key, isOffered ? method : order.method), 303);
  });

  /** Returns the customer's next address: the gateway's page, or the order's page with its state. */
  async function next(key: string, method: Method): Promise<string> {
    try {
      const action = await pay(key, method);
      return action?.type === 'redirect' ? action.redirectUrl : `/orders/${key}`;
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      console.error(error.message);
      // Otherwise a payment may exist: the page says that we are checking, without another create.
      const isNothing = error.outcome === 'not_sent' || error.outcome === 'rejected';
      return isNothing ? `/orders/${key}?refused` : `/orders/${key}`;
    }
  }

  return app;
}
