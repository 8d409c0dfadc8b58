// The customer's routes: place an order, pay it, and see its state.
import { desc, eq } from 'drizzle-orm';
import { Hono } from 'hono';
import { isFinal, isGatewayError, type Transfer } from 'payment-gateway-sdk';
import { isCurrency, isMethod, isProduct, type Method, methodsOf, PRODUCTS } from './catalogue.ts';
import { type Database, type Order, orders } from './database.ts';
import { orderPage, problemPage, productsPage } from './pages.ts';
import type { Payments } from './payments.ts';

/** The state of an order that a customer needs to know. */
export type OrderState =
  | { is: 'paid' | 'reversed' | 'canceled' | 'declined' | 'checking' | 'pending' | 'open' | 'refused' }
  | { is: 'transfer'; transfer: Transfer };

const KEY = ':key{[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}}';

export const listOrders = (db: Database) => db.select().from(orders).orderBy(desc(orders.createdAt)).limit(20);

export function openCheckout(db: Database, { gateway }: Payments, shopUrl: string) {
  const app = new Hono();
  const findOrder = async (key: string) => (await db.select().from(orders).where(eq(orders.key, key)))[0];

  /** Returns the customer's next address when they press "pay": the gateway's page, or the order's page. */
  async function pay({ id, key, product, amount, currency }: Order, paymentMethod: Method): Promise<string> {
    const page = `/orders/${key}`;
    const request = { paymentMethod, amount, currency, description: PRODUCTS[product].name };
    try {
      const checkout = await gateway.checkout(id, { ...request, returnUrl: `${shopUrl}${page}` });
      return checkout.state === 'redirect' ? checkout.redirectUrl : page;
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      console.error(error.message);
      return `${page}?refused`;
    }
  }

  /** Returns the state of an order. It reads the database only, so the page may poll it. */
  async function stateOf({ id }: Order): Promise<OrderState> {
    const order = await gateway.order(id);
    if (!order) return { is: 'open' };
    const { state, payment } = order;
    const isPayable = state === 'open' || state === 'reversed';
    if (!isPayable || !payment || isFinal(payment)) return { is: state };
    const attempt = await gateway.find(`${id}.${order.attempts}`);
    return attempt?.nextAction?.type === 'transfer'
      ? { is: 'transfer', transfer: attempt.nextAction.transfer }
      : { is: 'pending' };
  }

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
    const amount = PRODUCTS[product].prices[currency];
    const [order] = await db.insert(orders).values({ product, amount, currency, method }).returning();
    return c.redirect(order ? await pay(order, method) : '/', 303);
  });

  app.get(`/orders/${KEY}`, async c => {
    const order = await findOrder(c.req.param('key'));
    if (!order) return c.html(problemPage('There is no such order.'), 404);
    const state = await stateOf(order);
    const isRefused = state.is === 'open' && c.req.query('refused') !== undefined;
    return c.html(orderPage(order, isRefused ? { is: 'refused' } : state));
  });

  app.post(`/orders/${KEY}/pay`, async c => {
    const order = await findOrder(c.req.param('key'));
    if (!order) return c.html(problemPage('There is no such order.'), 404);
    const chosen = (await c.req.formData()).get('method');
    const method = isMethod(chosen) && methodsOf(order.currency).includes(chosen) ? chosen : order.method;
    if (method !== order.method) await db.update(orders).set({ method }).where(eq(orders.id, order.id));
    return c.redirect(await pay(order, method), 303);
  });

  return app;
}
