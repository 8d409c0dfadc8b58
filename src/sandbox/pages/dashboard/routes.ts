// The pages of the dashboard and their addresses.
import type { Context } from 'hono';
import type { Hono } from 'hono/tiny';
import { printable } from '../../../terminal/text.ts';
import { serverSentEvents } from '../../event-stream.ts';
import type { SandboxEvent } from '../../events.ts';
import type { Parts } from '../../parts.ts';
import type { AddForm } from '../forms.ts';
import { asset } from '../layout.ts';
import { callPage, callTitle } from './call.ts';
import { callsPage } from './calls.ts';
import style from './dashboard.css?raw';
import { deliveriesPage } from './deliveries.ts';
import { deliveryPage, deliveryTitle } from './delivery.ts';
import { faultsPage } from './faults.ts';
import { addForms } from './forms.ts';
import { dashboardPage } from './frame.ts';
import script from './live.js?raw';
import { overview } from './overview.ts';
import { paymentPage, paymentTitle } from './payment.ts';
import type { View } from './view.ts';

export function addDashboard(app: Hono, parts: Parts, addForm: AddForm): void {
  const { ledger, log, faults, clock } = parts;
  const viewOf = ({ req }: Context): View => ({ parts, now: clock.now(), url: new URL(req.url) });

  app.get('/dashboard.css', () => asset(style, 'text/css'));
  app.get('/dashboard.js', () => asset(script, 'text/javascript'));
  app.get('/live', ({ req }) => (req.method === 'HEAD' ? new Response() : serverSentEvents(log, newsOf)));

  app.get('/', context => {
    const view = viewOf(context);
    return dashboardPage(view, { title: `Payments (${ledger.size})`, tab: 'payments', main: overview(view) });
  });

  app.get('/payments/:id', context => {
    const view = viewOf(context);
    const record = ledger.get(context.req.param('id'));
    return dashboardPage(view, { title: paymentTitle(record), tab: 'payments', main: paymentPage(view, record) });
  });

  app.get('/calls', context => {
    const view = viewOf(context);
    return dashboardPage(view, { title: `Calls (${log.calls.size})`, tab: 'calls', main: callsPage(view) });
  });

  app.get('/calls/:id', context => {
    const view = viewOf(context);
    const call = log.call(Number(context.req.param('id')));
    return dashboardPage(view, { title: callTitle(call), tab: 'calls', main: callPage(view, call) });
  });

  app.get('/deliveries', context => {
    const view = viewOf(context);
    return dashboardPage(view, {
      title: `Callbacks (${log.deliveries.size})`,
      tab: 'deliveries',
      main: deliveriesPage(view),
    });
  });

  app.get('/deliveries/:id', context => {
    const view = viewOf(context);
    const delivery = log.delivery(Number(context.req.param('id')));
    const title = deliveryTitle(view, delivery);
    return dashboardPage(view, { title, tab: 'deliveries', main: deliveryPage(view, delivery) });
  });

  app.get('/faults', context => {
    const view = viewOf(context);
    const title = faults.armed.length === 0 ? 'Faults' : `Faults (${faults.armed.length} armed)`;
    return dashboardPage(view, { title, tab: 'faults', main: faultsPage(view) });
  });

  addForms(addForm, parts);
}

/** The text for screen readers, empty for mere changes of the page. */
const newsOf = (event: SandboxEvent): string =>
  event.type === 'move' ? `${printable(event.reference || event.paymentId)} is ${event.paymentStatus}` : '';
