// The pages of the dashboard, and their forms beyond the control API.
import type { Hono } from 'hono/tiny';
import type { Parts } from '../../parts.ts';
import { create } from '../../scenarios/create.ts';
import { play } from '../../scenarios/play.ts';
import { type Report, testServer } from '../../scenarios/report.ts';
import { addForm, backOf } from '../forms.ts';
import { activityPage } from './activity.ts';
import { paymentOf } from './create.ts';
import { callbackPage, callPage } from './exchange.ts';
import { faultsPage } from './faults.ts';
import { dashboardPage } from './frame.ts';
import { paymentPage, paymentsPage } from './payments.ts';
import { createPage, reportPage } from './start.ts';
import type { Page, View } from './view.ts';

export function addDashboard(app: Hono, parts: Parts): void {
  const { clock } = parts;
  let report: Report | undefined;

  const addPage = (path: string, tab: string, page: (view: View, id: string) => Page) =>
    app.get(path, async ({ req }) => {
      const { origin } = new URL(req.url);
      const view = { ...parts, origin, query: req.query(), ...(await reviewsOf(parts)) };
      return dashboardPage(view, tab, page(view, req.param('id') ?? ''));
    });
  addPage('/', 'payments', paymentsPage);
  addPage('/create', 'payments', createPage);
  addPage('/report', 'payments', view => reportPage(view, report));
  addPage('/payments/:id', 'payments', paymentPage);
  addPage('/activity', 'activity', activityPage);
  addPage('/calls/:id', 'activity', callPage);
  addPage('/deliveries/:id', 'activity', callbackPage);
  addPage('/faults', 'faults', faultsPage);

  addForm(app, '/create', async (form, _, origin) => {
    const id = await create(parts, paymentOf(form, origin), origin);
    return `/payments/${id}`;
  });

  addForm(app, '/play', async (form, _, origin) => {
    const { payment } = await play(parts, form.get('name') ?? '', { to: form.get('to') || undefined }, origin);
    return `/payments/${payment.id}`;
  });
  addForm(app, '/report', async (form, _, origin) => {
    report = await testServer(parts, { to: form.get('to') || undefined }, origin);
    return '/report';
  });

  addForm(app, '/clock', (_, request) => {
    clock.set(clock.now() - clock.offset);
    return backOf(request);
  });
}

async function reviewsOf({ settings }: Parts) {
  try {
    const all = (await settings.reviews?.()) ?? [];
    return { reviews: new Map(all.map(({ id, reason }) => [id, reason])) };
  } catch (error) {
    return { reviews: new Map(), problem: `The reviews could not be read: ${error}` };
  }
}
