// The routes of the customer's pages: a payment's page, its forms, and the events that refresh an open page.
import type { Hono } from 'hono/tiny';
import { isFinalStatus } from '../../../schemas/methods.ts';
import { serverSentEvents } from '../../event-stream.ts';
import type { Parts } from '../../parts.ts';
import { SandboxError } from '../../sandbox-error.ts';
import type { AddForm } from '../forms.ts';
import { asset } from '../layout.ts';
import { ACTS } from './acts.ts';
import style from './customer.css?raw';
import script from './customer.js?raw';
import { offersOf } from './onramp.ts';
import { customerPage } from './page.ts';
import { returnAddressOf } from './return-url.ts';
import { isChoosing, type View } from './view.ts';

export function addCustomerPages(app: Hono, { settings, clock, ledger, move, log }: Parts, addForm: AddForm): void {
  const viewOf = (id: string, input: URLSearchParams): View => {
    const record = ledger.get(id);
    if (record.paymentType !== 'DEPOSIT') {
      throw new SandboxError('unknown_payment', `Payment ${id} is a withdrawal: no customer pays it.`);
    }
    const method = input.get('method');
    const isOffered = isChoosing(record) && offersOf(record.currency).some(offer => offer.method === method);
    return {
      record,
      request: ledger.requestOf(id),
      shopName: settings.shopName,
      now: clock.now(),
      chosen: isOffered && method ? method : undefined,
      input,
      errors: {},
    };
  };

  app.get('/customer.css', () => asset(style, 'text/css'));
  app.get('/customer.js', () => asset(script, 'text/javascript'));

  app.get('/pay/:id', ({ req }) => customerPage(viewOf(req.param('id'), new URL(req.url).searchParams)));

  app.get('/pay/:id/live', ({ req }) => {
    const { id } = viewOf(req.param('id'), new URLSearchParams()).record;
    if (req.method === 'HEAD') return new Response();
    return serverSentEvents(log, event => {
      if (event.type === 'reset') return 'reset';
      return event.type === 'move' && event.paymentId === id ? 'move' : undefined;
    });
  });

  addForm('/pay/:id', (form, id) => {
    const view = viewOf(id, form);
    const { record, chosen } = view;
    const next = returnAddressOf(view.request).href ?? `/pay/${record.id}`;
    const act = form.get('act') ?? '';
    if (!Object.hasOwn(ACTS, act))
      throw new SandboxError('refused', `act must be one of ${Object.keys(ACTS).join(', ')}.`);
    // After a second click or on an outdated page, the customer continues as after the first click.
    if (isFinalStatus(record.paymentStatus)) return next;
    const decision = (ACTS[act] as (typeof ACTS)[string])(view);
    switch (decision.does) {
      case 'ask-again':
        return customerPage({ ...view, errors: decision.errors }, 422);
      case 'go-on':
        return decision.to;
      case 'leave':
        return next;
    }
    if (chosen && record.paymentMethod === 'USER_CHOICE') ledger.choose(id, chosen);
    move(id, decision.does, decision.does === 'fail' ? decision.reason : {});
    return next;
  });
}
