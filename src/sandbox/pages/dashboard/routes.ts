// The pages of the dashboard and their addresses.
import type { Context } from 'hono';
import type { Hono } from 'hono/tiny';
import { printable } from '../../../terminal/text.ts';
import { serverSentEvents } from '../../event-stream.ts';
import type { SandboxEvent } from '../../events.ts';
import type { Parts } from '../../parts.ts';
import type { AddForm } from '../forms.ts';
import { asset, type Html } from '../layout.ts';
import { callPage, callTitle } from './call.ts';
import { callsPage } from './calls.ts';
import style from './dashboard.css?raw';
import { deliveriesPage } from './deliveries.ts';
import { deliveryPage, deliveryTitle } from './delivery.ts';
import { faultsPage } from './faults.ts';
import { addForms } from './forms.ts';
import { dashboardPage, type Tab } from './frame.ts';
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

  const addPage = (path: string, tab: Tab, page: (view: View, id: string) => { title: string; main: Html }) =>
    app.get(path, context => {
      const view = viewOf(context);
      return dashboardPage(view, { tab, ...page(view, context.req.param('id') ?? '') });
    });

  addPage('/', 'payments', view => ({ title: `Payments (${ledger.size})`, main: overview(view) }));
  addPage('/payments/:id', 'payments', (view, id) => {
    const record = ledger.get(id);
    return { title: paymentTitle(record), main: paymentPage(view, record) };
  });
  addPage('/calls', 'calls', view => ({ title: `Calls (${log.calls.size})`, main: callsPage(view) }));
  addPage('/calls/:id', 'calls', (view, id) => {
    const call = log.call(Number(id));
    return { title: callTitle(call), main: callPage(view, call) };
  });
  addPage('/deliveries', 'deliveries', view => ({
    title: `Callbacks (${log.deliveries.size})`,
    main: deliveriesPage(view),
  }));
  addPage('/deliveries/:id', 'deliveries', (view, id) => {
    const delivery = log.delivery(Number(id));
    return { title: deliveryTitle(view, delivery), main: deliveryPage(view, delivery) };
  });
  addPage('/faults', 'faults', view => {
    const { length } = faults.armed;
    return { title: length === 0 ? 'Faults' : `Faults (${length} armed)`, main: faultsPage(view) };
  });

  addForms(addForm, parts);
}

/** The text for screen readers, empty for mere changes of the page. */
const newsOf = (event: SandboxEvent): string =>
  event.type === 'move' ? `${printable(event.reference || event.paymentId)} is ${event.paymentStatus}` : '';
