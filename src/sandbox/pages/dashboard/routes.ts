// The pages of the dashboard, and its forms: each acts like the sandbox's own API, then returns to its page.

import { html } from 'hono/html';
import type { Hono } from 'hono/tiny';
import { printable } from '../../../terminal/text.ts';
import { serverSentEvents } from '../../event-stream.ts';
import type { Parts } from '../../parts.ts';
import { create } from '../../scenarios/create.ts';
import type { AddForm } from '../forms.ts';
import { activityPage } from './activity.ts';
import { paymentOf } from './create.ts';
import { callbackPage, callPage } from './exchange.ts';
import { changeFaults, faultsPage } from './faults.ts';
import { dashboardPage } from './frame.ts';
import { outcomeOfDelivery } from './outcome.ts';
import { makeMove, paymentPage, paymentsPage } from './payments.ts';
import { createPage, playStory } from './start.ts';
import { type Notice, type Page, pretty, type View } from './view.ts';

/** The pages by address, each with its tab. */
const PAGES: Readonly<Record<string, readonly [tab: string, page: (view: View, id: string) => Page]>> = {
  '/': ['payments', paymentsPage],
  '/create': ['payments', createPage],
  '/payments/:id': ['payments', paymentPage],
  '/activity': ['activity', activityPage],
  '/calls/:id': ['activity', callPage],
  '/deliveries/:id': ['activity', callbackPage],
  '/faults': ['faults', faultsPage],
};

export function addDashboard(app: Hono, parts: Parts, addForm: AddForm): void {
  const { log, clock, callbacks, faults } = parts;
  const notices = new Notices();

  for (const [path, [tab, page]] of Object.entries(PAGES)) {
    app.get(path, async ({ req }) => {
      const url = new URL(req.url);
      const { reviews, notice } = await reviewsOf(parts);
      const view = { parts, now: clock.now(), url, reviews, notice: notices.find(url) ?? notice };
      return dashboardPage(view, tab, page(view, req.param('id') ?? ''));
    });
  }
  app.get('/live', ({ req }) =>
    serverSentEvents(req.raw, log, event =>
      event.type === 'move' ? `${printable(event.reference || event.paymentId)} is ${event.paymentStatus}` : '',
    ),
  );

  addForm('/create', async (form, _, { url }) => {
    const { origin } = new URL(url);
    return `/payments/${await create(parts, paymentOf(form, origin), origin)}`;
  });

  addForm('/payments/:id', (form, id, request) =>
    notices.backTo(request, `/payments/${id}`, makeMove(parts, id, form)),
  );

  addForm('/deliveries/:id', async (form, path, request) => {
    const body = form.get('body')?.replaceAll('\r\n', '\n');
    // The editor's layout has other bytes, but the same content.
    const isAsItWas = body === undefined || body === pretty(log.delivery(Number(path)).body);
    const { id } = await callbacks.redeliver(Number(path), isAsItWas ? {} : { body });
    const { sentence, tone } = outcomeOfDelivery(log.delivery(id));
    const text = html`<a href="/deliveries/${id}">Callback ${id}</a> was posted. ${sentence}`;
    return notices.backTo(request, `/deliveries/${id}`, text, tone);
  });

  addForm('/faults', (form, _, request) => notices.backTo(request, '/faults', changeFaults(faults, form)));

  addForm('/clock', (form, _, request) => {
    const [advance, at] = [form.get('advance'), form.get('at')];
    if (advance !== null) clock.advance(Number(advance));
    else clock.set(at === null ? clock.now() - clock.offset : Number(at));
    const shown = new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ');
    return notices.backTo(request, '/', `The clock of the sandbox now shows ${shown} UTC.`);
  });

  addForm('/stories', async (form, _, request) => {
    const { text, tone } = await playStory(parts, form, new URL(request.url).origin);
    return notices.backTo(request, '/', text, tone);
  });

  addForm('/reset', (_form, _, { url }) => {
    parts.reset();
    return notices.backTo(new Request(url), '/', 'The sandbox has forgotten everything.');
  });
}

/** Asks the merchant's store, and says so if it fails. */
async function reviewsOf({ settings }: Parts): Promise<Pick<View, 'reviews' | 'notice'>> {
  try {
    const all = (await settings.reviews?.()) ?? [];
    return { reviews: new Map(all.map(({ id, reason }) => [id, reason])) };
  } catch (error) {
    return { reviews: new Map(), notice: { tone: 'bad', text: `The reviews could not be read: ${error}` } };
  }
}

/** The results of the latest forms. A page names its own by number in its address. */
class Notices {
  readonly #latest = new Map<string, Notice>();
  #lastId = 0;

  find({ searchParams }: URL): Notice | undefined {
    return this.#latest.get(searchParams.get('notice') ?? '');
  }

  /** Returns the address of the page that sent the form, with the notice. */
  backTo({ headers, url }: Request, otherwise: string, text: Notice['text'], tone: Notice['tone'] = 'good'): string {
    const from = URL.parse(headers.get('referer') ?? '');
    const { pathname, searchParams } = from?.origin === new URL(url).origin ? from : new URL(otherwise, url);
    this.#lastId += 1;
    this.#latest.set(String(this.#lastId), { text, tone });
    this.#latest.delete(String(this.#lastId - KEPT));
    searchParams.set('notice', String(this.#lastId));
    return `${pathname}?${searchParams}`;
  }
}

const KEPT = 50;
